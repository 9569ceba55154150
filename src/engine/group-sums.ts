/** Grouping rows and adding up their values at once: a part of the seam that an engine may lack (RowOperations). */
import type { ColumnSums } from "../host/lanes.js";
import type { JoinCall } from "./row-operations.js";

export type { ColumnSums, SummedColumn, SumParts } from "../host/lanes.js";

/** Groups in the order of their first rows. Nulls are equal. */
export interface SummedGroups {
  /** Per group: its first row. Ascending. */
  readonly firsts: Uint32Array;
  /** Per row: the number of its group; null where nobody asked. */
  readonly groupOf: Uint32Array | null;
  /** As the columns that were asked for. */
  readonly columns: readonly ColumnSums[];
}

/** Options of a call. */
export interface SumCall extends Omit<JoinCall, "nullsEqual"> {
  /** Whether the groups of all rows are asked for. */
  readonly numbers: boolean;
  /** Whether sums of floats are wanted as numbers, each rounded once, where that is at hand: nobody adds to them. */
  readonly rounded?: boolean;
  /** Whether the calling thread does all of it: others are at work of their own. */
  readonly alone?: boolean;
}
