/**
 * Kinds of join, as row numbers: every kind is made of the pairs that an inner join finds, and of the rows of a side
 * that are in no pair. The result is a list of segments, each of rows that come from the same sides, so that a side
 * without a row costs no row numbers.
 */

import { countSet, isSet } from "../bitmaps.js";
import { LimitError } from "../errors.js";
import { MAX_PAIRS, type RowPairs } from "./rows.js";

/** All kinds of join. */
export const JOIN_KINDS = ["inner", "left", "right", "full", "semi", "anti"] as const;

/**
 * Which rows a join answers: `inner` one for every pair of matching rows; `left`, `right` and `full` also the rows of
 * that side, or of both, that match nothing, with nulls for the other side; `semi` the left rows that match, `anti`
 * those that do not, each once and without columns of the right.
 */
export type JoinKind = (typeof JOIN_KINDS)[number];

/** Something of each side. */
export interface Sides<T> {
  readonly left: T;
  readonly right: T;
}

/** Rows of the result: row `left[i]` of the left beside row `right[i]` of the right. Null: that side has no row. */
export interface Segment extends Sides<Uint32Array | null> {
  readonly rows: number;
  /** A side whose row numbers are 0, 1, 2, …, where that is known. */
  readonly inOrder?: "left" | "right";
}

/** Makes a bitmap of `count` rows in which those listed are set (host/mark-rows.ts). */
export type MarkRows = (rows: Uint32Array, count: number) => Promise<Uint8Array>;

/**
 * The rows of a join. An inner join's are its pairs as they are; other kinds take a pass over the pairs for each side
 * whose unmatched rows count, one bit per row of that side, and 4 bytes per row that is added. Rows of one side ascend.
 * @param rows how many rows each side has
 * @param mark called for a side whose rows without a pair, or with one, are wanted; may throw to stop
 * @throws LimitError when the result has more rows than an Arrow table
 */
export async function segmentsOf(
  how: JoinKind,
  pairs: Pick<RowPairs, "left" | "right" | "inOrder">,
  rows: Sides<number>,
  mark: MarkRows,
): Promise<Segment[]> {
  const { left, right, inOrder } = pairs;
  const select = (side: "left" | "right", matched: boolean) => {
    const paired = pairs[side];
    if (inOrder !== side) return selectRows(paired, rows[side], matched, mark);
    return matched ? rowsFrom(0, paired.length) : rowsFrom(paired.length, rows[side]);
  };
  if (how === "semi" || how === "anti") return [leftOnly(await select("left", how === "semi"))];
  const segments: Segment[] = [{ rows: left.length, left, right, inOrder }];
  if (how === "left" || how === "full") segments.push(leftOnly(await select("left", false)));
  if (how === "right" || how === "full") {
    const unmatched = await select("right", false);
    segments.push({ rows: unmatched.length, left: null, right: unmatched });
  }
  const total = segments.reduce((sum, segment) => sum + segment.rows, 0);
  if (total > MAX_PAIRS)
    throw new LimitError("rows", total, MAX_PAIRS, "Join on more columns, or filter one side first.");
  const filled = segments.filter((segment) => segment.rows > 0);
  return filled.length > 0 ? filled : segments.slice(0, 1);
}

function leftOnly(left: Uint32Array): Segment {
  return { rows: left.length, left, right: null };
}

/** The rows of a side that are in `paired`, or those that are not, in their order. */
async function selectRows(
  paired: Uint32Array,
  count: number,
  matched: boolean,
  mark: MarkRows,
): Promise<Uint32Array> {
  const bits = await mark(paired, count);
  const found = countSet(bits, count);
  return rowsWhere(bits, count, matched, matched ? found : count - found);
}

function rowsFrom(first: number, end: number): Uint32Array {
  const rows = new Uint32Array(end - first);
  for (let i = 0; i < rows.length; i++) rows[i] = first + i;
  return rows;
}

/** Indices of the set or the clear bits, of which there are `total`. */
export function rowsWhere(bits: Uint8Array, count: number, set: boolean, total: number): Uint32Array {
  const rows = new Uint32Array(total);
  const none = set ? 0 : 0xff;
  for (let byte = 0, out = 0; out < total; byte++) {
    if (bits[byte] === none) continue;
    const end = Math.min(count, 8 * byte + 8);
    for (let row = 8 * byte; row < end; row++) if (isSet(bits, row) === set) rows[out++] = row;
  }
  return rows;
}
