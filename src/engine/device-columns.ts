/**
 * Table columns in an engine's memory, part of the seam: what relational operators ask for tables that stay on the
 * device. Values are laid out as in Arrow, in arrays of 32-bit words whose last word may be filled up with unspecified
 * bits.
 *
 * A row that a result lacks on one side has the number NO_ROW, and gathers as null.
 */
import type { DeviceArray } from "./device-array.js";
import type { Placement } from "./engine.js";
import type { JoinKind } from "./join-kinds.js";
import type { Keep } from "./keep.js";
import type { JoinCall } from "./row-operations.js";
import type { KeyColumn, RowPairs } from "./rows.js";

/** Words in the memory of an engine. */
export type Words = DeviceArray<"u32">;

/** The values of a column: Arrow's buffers but for the validity. */
export type DeviceValues =
  /** `width` bytes a value: 1, 2 or a multiple of 4. */
  | { readonly kind: "fixed"; readonly width: number; readonly data: Words }
  /** One bit a value. */
  | { readonly kind: "bits"; readonly data: Words }
  /** Byte strings: value i is bytes offsets[i] .. offsets[i + 1] of `bytes`, the first of which is byte 0. */
  | {
      readonly kind: "strings";
      readonly offsets: Words;
      readonly bytes: Words;
      /** Most bytes that the type's offsets can number. */
      readonly most: number;
    };

/** A column of a table on a device. */
export interface DeviceColumn {
  /** Null for a column of nothing but nulls. */
  readonly values: DeviceValues | null;
  /** A set bit is a value, a clear bit a null. Null where no value is null. */
  readonly validity: Words | null;
}

/** A key column on a device, which engine/rows.ts's rules hold for: `width` words a value. */
export interface DeviceWordColumn {
  readonly kind: "device words";
  readonly width: number;
  readonly data: Words;
  readonly validity: Words | null;
  /** All values are less, where that is known: codes of a dictionary. */
  readonly below?: number;
}

/** A key column of byte strings on a device. */
export interface DeviceByteColumn {
  readonly kind: "device bytes";
  readonly offsets: Words;
  readonly bytes: Words;
  readonly validity: Words | null;
}

/** Keys of rows, each column on the host or on the device. */
export interface DeviceKeys {
  readonly rows: number;
  readonly columns: readonly (KeyColumn | DeviceWordColumn | DeviceByteColumn)[];
}

/** The number of a row that is not there. */
export const NO_ROW = 0xffffffff;

/**
 * Matching rows in the memory of an engine: row `left[i]` beside row `right[i]`. Order unspecified. Whoever gets them
 * frees them.
 */
export interface Matches {
  readonly left: Words;
  /** Null for semi and anti joins. */
  readonly right: Words | null;
  /** A side whose row numbers are 0, 1, 2, … up to its last, where the engine knows of one. */
  readonly inOrder?: "left" | "right" | undefined;
}

/**
 * Kinds of join that are answered in host memory: pairs, which all kinds are made of (join-kinds.ts), and the left rows
 * that match.
 */
export type PairKind = "inner" | "semi";

/** The kinds of join whose answer can be in some memory. */
export type KindAt<P extends Placement> = P extends "host" ? PairKind : JoinKind;

/** Matching rows in some memory. */
export type MatchesAt<P extends Placement> = P extends "host" ? RowPairs : Matches;

/** Options of `match`. */
export interface MatchCall<P extends Placement = "device"> extends JoinCall {
  /** The memory that the answer is in. Default: the engine's. */
  readonly output?: P;
}

/** A side of a join, and its columns that are asked for: key columns may be among them, with the same arrays. */
export interface JoinedSide {
  readonly keys: DeviceKeys;
  readonly columns: readonly DeviceColumn[];
  /** Called before anything reads them, when they are still on their way: what is submitted later waits for them. */
  readonly arrival?: () => void;
}

/** Columns of both sides, row i of one beside row i of the other. Order unspecified. Whoever gets them frees them. */
export interface JoinedColumns {
  readonly rows: number;
  readonly left: readonly DeviceColumn[];
  readonly right: readonly DeviceColumn[];
}

/**
 * Operations on columns that stay in the memory of an engine. After the engine is destroyed they reject with
 * DeviceLostError.
 */
export interface ColumnOperations {
  /**
   * Joins two sides by value: see rows.ts for what makes rows equal.
   * @throws LimitError of `"rows"` when rows of the side with fewer repeat and there are more than `mostPairs` pairs;
   * others when there is no memory for them
   */
  match<P extends Placement = "device">(
    left: DeviceKeys,
    right: DeviceKeys,
    how: KindAt<P>,
    call: MatchCall<P>,
  ): Promise<MatchesAt<P>>;
  /**
   * An inner join of columns by keys without nulls, where that is faster than `match` and `gatherColumns`; null where it
   * is not, or turns out not to be.
   */
  joinColumns?(
    left: JoinedSide,
    right: JoinedSide,
    call: Omit<JoinCall, "nullsEqual">,
  ): Promise<JoinedColumns | null>;
  /**
   * The rows that stay, ascending, where every row differs from the others that stay; a null is equal to a null. The
   * caller frees them.
   * @throws LimitError when there is no memory for it
   */
  distinctRows(keys: DeviceKeys, keep: Keep, call: Omit<JoinCall, "nullsEqual">): Promise<Words>;
  /** A byte for each of `length` rows, 1 for those that are listed, else 0. The caller frees it. */
  maskOf(rows: Words, length: number): Promise<DeviceArray<"u8">>;
  /**
   * Gathers columns by row numbers. The caller frees the result.
   * @param mayLack some rows may be NO_ROW
   * @throws LimitError when strings outgrow their offsets
   */
  gatherColumns(
    columns: readonly DeviceColumn[],
    rows: Words,
    mayLack: boolean,
    call: Pick<JoinCall, "signal">,
  ): Promise<DeviceColumn[]>;
}

/** The arrays of a column. */
export function arraysOf({ values, validity }: DeviceColumn): Words[] {
  const own =
    values === null ? [] : values.kind === "strings" ? [values.offsets, values.bytes] : [values.data];
  return validity === null ? own : [...own, validity];
}

/** Frees columns. */
export function destroyColumns(columns: readonly DeviceColumn[]): void {
  for (const column of columns) for (const array of arraysOf(column)) array.destroy();
}
