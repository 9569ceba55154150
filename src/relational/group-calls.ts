/** Options of group-by, and those that it has in common with distinct. */
import type { Device } from "../device.js";
import type { Plan } from "../engine/plan.js";
import type { MemoryOptions } from "../spill/memory-options.js";
import type { Aggregate } from "./aggregates.js";

/**
 * The stages of a group-by, in order. `distinct` has all but the third; what a GPU aggregates it does in the second.
 */
export type GroupStage = "encode keys" | "group rows" | "aggregate" | "materialise";

/** What `groupBy` and `distinct` take besides columns. */
export interface GroupCallOptions {
  /** Where rows are grouped. Default: the process's own device, as with `join`. */
  readonly device?: Device;
  /**
   * Works within a limit of memory, in Node: what does not fit is partitioned to temporary files. Rows then come in any
   * order, and dictionary columns come out as their values; onPlan and onProgress are not called.
   */
  readonly memory?: MemoryOptions;
  /** Stops the call between chunks of work; it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Rows that were grouped so far, and rows in all. Called between chunks of work and at the end. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Told how rows were grouped: strategy, reason, the time of each phase. Called once, before the answer comes. */
  readonly onPlan?: (plan: Plan) => void;
  /** Called after each stage with the seconds it took. */
  readonly onStage?: (stage: GroupStage, seconds: number) => void;
}

/** Options of `groupBy` and `GroupBy`. */
export interface GroupByOptions<
  By extends string = string,
  Aggregates extends Readonly<Record<string, Aggregate>> = Readonly<Record<string, Aggregate>>,
> extends GroupCallOptions {
  /** Key columns, at least one. Rows are of one group when all of them are equal; a null is equal to a null. */
  readonly by: readonly By[];
  /** What to compute for each group, by the name of its column in the answer. May be empty. */
  readonly aggregate: Aggregates;
}
