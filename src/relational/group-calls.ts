/** What group-by and distinct share: checks of their options, stages, the plan, and the engine's grouping. */
import type { Device } from "../device.js";
import { nextTask } from "../engine/next-task.js";
import { type Plan, PlanLog } from "../engine/plan.js";
import type { RowKeys } from "../engine/rows.js";
import { ValidationError } from "../errors.js";
import { check, checkCallbacks, checkOptions } from "../options.js";
import { type GroupedRows, groupRows } from "./group-rows.js";
import type { GatherRunner } from "./materialise.js";

/** The stages of a group-by, in order. `distinct` has all but the third. */
export type GroupStage = "encode keys" | "group rows" | "aggregate" | "materialise";

/** What `groupBy` and `distinct` take besides columns. */
export interface GroupCallOptions {
  /** Where rows are grouped. Default: the process's own device, as with `join`. */
  readonly device?: Device;
  /** Stops the call between chunks of work; it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Rows that were grouped so far, and rows in all. Called between chunks of work and at the end. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Told how rows were grouped: strategy, reason, the time of each phase. Called once, before the answer comes. */
  readonly onPlan?: (plan: Plan) => void;
  /** Called after each stage with the seconds it took. */
  readonly onStage?: (stage: GroupStage, seconds: number) => void;
}

/** One call, from its options on. @internal */
export class GroupCalls {
  readonly #name: string;
  readonly #options: GroupCallOptions;
  #stageBegan = performance.now();
  #plan: Plan | undefined;

  /**
   * Checks the options that all such calls take, and that there are no others than these and `own`.
   * @param own options of this call alone, with spaces between them
   */
  constructor(name: string, options: GroupCallOptions, own: string) {
    checkOptions(options, `${own} device signal onProgress onPlan onStage`);
    const { device, signal, onProgress, onPlan, onStage } = options;
    checkCallbacks({ signal, onProgress, onPlan, onStage });
    const isDevice = device === undefined || Boolean(device?.engine);
    check(isDevice, "device", device, "Give what `await openDevice()` answers.");
    this.#name = name;
    this.#options = options;
  }

  /** A list of different names of columns. */
  columnNames(option: string, names: unknown): readonly string[] {
    const example = `Write ${option}: ["origin", "month"].`;
    if (typeof names === "string")
      throw new ValidationError(`${option} is "${names}", not a list of columns.`, example);
    if (!Array.isArray(names) || names.length === 0)
      throw new ValidationError(`${this.#name} needs at least one key column in ${option}.`, example);
    for (const [i, name] of names.entries()) {
      if (typeof name !== "string")
        throw new ValidationError(`A column in ${option} is not a name.`, example);
      if (names.indexOf(name) !== i)
        throw new ValidationError(`${option} names the column "${name}" twice.`, "Name it once.");
    }
    return names;
  }

  throwIfAborted(): void {
    this.#options.signal?.throwIfAborted();
  }

  /** Lets the event loop run, and heeds the signal. */
  readonly pause = async (): Promise<void> => {
    await nextTask();
    this.throwIfAborted();
  };

  endStage(stage: GroupStage): void {
    const now = performance.now();
    this.#options.onStage?.(stage, (now - this.#stageBegan) / 1000);
    this.#stageBegan = now;
  }

  /** Groups rows on the engine, with progress and plan. */
  async group(device: Device, keys: RowKeys): Promise<GroupedRows> {
    const { signal, onProgress, onPlan } = this.#options;
    const log = onPlan && new PlanLog();
    log?.begin();
    const grouped = await groupRows(device, keys, { signal, onProgress, log });
    this.#plan = log?.finish();
    return grouped;
  }

  /** Gathers columns by the engine's threads, where it has some. */
  async gatherOn(device: Device): Promise<GatherRunner> {
    const rows = await device.engine.rows();
    return (tasks) => rows.gather(tasks, this.pause);
  }

  /** Tells the plan, where somebody asked. */
  tellPlan(): void {
    if (this.#plan) this.#options.onPlan?.(this.#plan);
  }
}
