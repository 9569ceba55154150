/** Grouping rows and adding up their values at once: a part of the seam that an engine may lack (RowOperations). */
import type { ColumnSums } from "../host/lanes.js";
import type { JoinCall } from "./row-operations.js";

export type { ColumnSums, SumParts } from "../host/lanes.js";

/** Values that are counted or added up by group; those of nulls count for nothing. Bitmaps as those of keys. */
export type SummedColumn =
  /** Counts the rows that are not null. */
  | { readonly kind: "rows"; readonly validity: Uint8Array | null }
  /** Integers of `width` 32-bit words, little-endian, two's complement when signed. */
  | {
      readonly kind: "words";
      readonly data: Uint32Array;
      readonly width: number;
      readonly signed: boolean;
      readonly validity: Uint8Array | null;
    }
  | {
      readonly kind: "floats";
      readonly data: Float32Array | Float64Array;
      readonly validity: Uint8Array | null;
    }
  /** Finds the row of the least (sign −1) or greatest number. NaN is above all; of equal numbers the first row counts. */
  | {
      readonly kind: "extremes";
      readonly data: Int32Array | Uint32Array | Float32Array | Float64Array;
      readonly sign: -1 | 1;
      readonly validity: Uint8Array | null;
    };

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
}
