/** Which values are among others. */
import { checkOptions } from "../options.js";
import type { GroupCallOptions } from "./group-calls.js";
import type { JoinStage } from "./join.js";
import { prepareJoin } from "./prepare-join.js";
import { findPairs } from "./run-join.js";
import type { ColumnValues } from "./table-input.js";

/** Options of {@link isIn}. */
export interface IsInOptions extends Omit<GroupCallOptions, "onStage"> {
  /** True: a null is in a set that has a null. Default false: a null is in no set. */
  readonly nullsEqual?: boolean;
  /** Called after each stage with the seconds it took. */
  readonly onStage?: (stage: JoinStage, seconds: number) => void;
}

/**
 * For each value 1 if it is among those of the set, else 0: a mask, as bulk calls take in `where`. A semi join of one column:
 * values are compared by value across types, as keys of a {@link join} are, and equal values of the set may repeat.
 *
 * @throws ValidationError for wrong options, for what is no column, and for types that cannot be compared
 * @example
 * console.log(await isIn(["SFO", "LAX", "SFO"], ["SFO", "JFK"])); // Uint8Array(3) [ 1, 0, 1 ]
 */
export async function isIn(
  values: ColumnValues,
  set: ColumnValues,
  options: IsInOptions = {},
): Promise<Uint8Array> {
  checkOptions(options, "device nullsEqual signal onProgress onPlan onStage");
  const asked = { ...options, on: [["values", "set"]] as const, how: "semi" as const };
  const prepared = prepareJoin({ left: { values }, right: { set } }, asked);
  const { call } = prepared;
  const device = await call.begin();
  const encoded = prepared.encode();
  call.endStage("encode keys");
  const pairs = await call.onEngine((engineCall) => findPairs(prepared, device, encoded, engineCall));
  try {
    const mask = new Uint8Array(prepared.rows.left);
    for (let i = 0; i < pairs.left.length; i++) mask[pairs.left[i]] = 1;
    call.endStage("hash join");
    call.tellPlan();
    return mask;
  } finally {
    pairs.release?.();
  }
}
