/**
 * Keys of table rows, as the relational operators hand them to an engine: any number of columns, each either
 * fixed-width words or byte strings. Two rows are equal when every column is equal bit by bit; the relational layer has
 * already made bits equal exactly where values are equal (one width for both sides, −0 = +0, one NaN, decimals on one
 * scale). Engines hash rows to find candidates and always compare whole rows; equal hashes never make a match.
 */

/** A key column of `rows` values, each `width` 32-bit words, little-endian word order. */
export interface WordColumn {
  readonly kind: "words";
  /** 32-bit words per value, 1 to 8. */
  readonly width: number;
  /** rows × width words. */
  readonly data: Uint32Array;
  /**
   * Arrow validity bitmap (bit set: not null, least significant bit first, no offset), or null when nothing is null.
   */
  readonly validity: Uint8Array | null;
  /** A number that values of one word are below, where one is known. */
  readonly below?: number;
}

/** A key column of byte strings: value i is `bytes[starts[i] .. ends[i])`. Values may share bytes (dictionaries do). */
export interface ByteColumn {
  readonly kind: "bytes";
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly bytes: Uint8Array;
  /** As in WordColumn. The range of a null value is not read. */
  readonly validity: Uint8Array | null;
}

export type KeyColumn = WordColumn | ByteColumn;

/** The keys of one side of a join. Both sides have the same number of columns, of the same kinds and widths. */
export interface RowKeys {
  readonly rows: number;
  readonly columns: readonly KeyColumn[];
}

/** Matching rows: row `left[i]` of the left side equals row `right[i]` of the right side. Order unspecified. */
export interface RowPairs {
  readonly left: Uint32Array;
  /** Unspecified for semi joins, where every left row that matches comes at least once. */
  readonly right: Uint32Array;
  /** A side whose row numbers are 0, 1, 2, …, where the engine knows. */
  readonly inOrder?: "left" | "right";
  /** Gives the memory of both back, where it is an engine's; they are not valid afterwards. Need not be called. */
  readonly release?: () => void;
}

/** Most pairs of one join: row numbers of an Arrow table are 31 bits. */
export const MAX_PAIRS = 2 ** 31 - 1;
