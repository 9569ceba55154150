/** What group-by and distinct share besides what every relational call does: their options, and lists of columns. */
import type { Device } from "../device.js";
import type { Plan } from "../engine/plan.js";
import { ValidationError } from "../errors.js";

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

/** Checks a list of different names of columns. @param call whose option it is */
export function columnNames(call: string, option: string, names: unknown): readonly string[] {
  const example = `Write ${option}: ["origin", "month"].`;
  if (typeof names === "string")
    throw new ValidationError(`${option} is "${names}", not a list of columns.`, example);
  if (!Array.isArray(names) || names.length === 0)
    throw new ValidationError(`${call} needs at least one key column in ${option}.`, example);
  for (const [i, name] of names.entries()) {
    if (typeof name !== "string") throw new ValidationError(`A column in ${option} is not a name.`, example);
    if (names.indexOf(name) !== i)
      throw new ValidationError(`${option} names the column "${name}" twice.`, "Name it once.");
  }
  return names;
}
