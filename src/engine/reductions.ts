/**
 * Aggregation of columns on a device, part of the seam: rows are grouped by their keys, and each column is reduced to
 * one value a group. Every reduction is exact, so its result does not depend on the order in which rows are taken. An
 * engine says which ones it takes: the others are the host's.
 */
import type { DeviceColumn, DeviceKeys, Words } from "./device-columns.js";
import type { GroupCall } from "./row-groups.js";

/**
 * How values of fixed width are ordered and added up: integers, or floats with −0 equal to 0 and NaN above all numbers.
 */
export type NumberForm = "unsigned" | "signed" | "float";

/** A column of numbers; bools count as unsigned ones of one bit. */
export interface NumberColumn {
  readonly column: DeviceColumn;
  readonly form: NumberForm;
}

/** What a group gets of a column. Nulls are skipped, except by `first` and `last`; a group without values gets null. */
export type Reduction =
  /** Values that are not null, or rows: an int64, never null. */
  | { readonly kind: "count"; readonly column: DeviceColumn | null }
  /** The value of the first or last row, null or not, of any layout. */
  | { readonly kind: "first" | "last"; readonly column: DeviceColumn }
  /** The least or greatest value; of equal ones the first row's. */
  | ({ readonly kind: "least" | "greatest" } & NumberColumn)
  /**
   * The sum of integers, in two's complement: 8 bytes, of integers of 64 bits 16. The sum of decimals, unscaled: 16
   * bytes, of decimals of 256 bits 32. The sum of floats: a float64, the exact sum rounded once, to nearest even; NaN
   * where a value is NaN or both infinities are, else an infinity where one is; 0 has no sign.
   */
  | ({ readonly kind: "sum"; readonly isDecimal?: boolean } & NumberColumn)
  /** The sum as a float64, rounded once, divided by the count times a unit (default 1): a float64. */
  | ({ readonly kind: "mean"; readonly unit?: number } & NumberColumn);

/** A reduction but for its column. */
export interface ReductionKind {
  readonly kind: Reduction["kind"];
  /** Of numbers. */
  readonly form?: NumberForm;
  /** Of sums and means, as there. */
  readonly isDecimal?: boolean;
  readonly unit?: number;
}

/** Options of a reduction. */
export interface ReduceCall extends Omit<GroupCall, "nullsEqual"> {
  /** True: the groups' numbers of the rows are asked for, for what is not reduced here. */
  readonly numbered?: boolean;
}

/** Groups in the order of their first rows. Whoever gets them frees the columns and the numbers. */
export interface ReducedGroups {
  readonly groups: number;
  /** One for each reduction. */
  readonly columns: readonly DeviceColumn[];
  /** Per row a number below `groups` that its group alone has, in any order of the groups; null unless asked for. */
  readonly groupOf: Words | null;
}

/** Aggregation on a device. After the engine is destroyed it rejects with DeviceLostError. */
export interface ColumnReducer {
  /** Whether it does such a reduction. Others are the host's. */
  takes(reduction: ReductionKind): boolean;
  /**
   * Groups rows, a null being equal to a null, and reduces columns of as many rows.
   * @throws LimitError when there is no memory for it, strings outgrow their offsets, a sum of decimals has more than
   * 38 digits, of 256 bits 76, or floats to add up are of magnitudes too far apart
   */
  reduce(keys: DeviceKeys, reductions: readonly Reduction[], call: ReduceCall): Promise<ReducedGroups>;
}
