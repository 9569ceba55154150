/**
 * The build rows of each key that several rows have, listed, which is what a join asks of its build side. Lists are
 * made partition by partition where the side was sorted: equal rows are in one partition, and in row order.
 *
 * Goes through the rows twice, a leader before its followers: first followers are counted in the word of their leader,
 * which says nothing else, then each leader takes room and its followers go there.
 */
import { bitmapBytes, isSet } from "../../../bitmaps.js";
import type { RowMemory } from "../../../host/row-memory.js";
import type { Work } from "../../../host/work.js";
import { AT_ONCE, countRecords, eachPartition, recordRanges } from "../groups/partitions.js";
import type { SortedKeys } from "../groups/sort.js";

/**
 * Rows that share their key with others: the list of leader r begins at lists[firstOf[r]], with how many rows it has;
 * they follow in their order. Leaders alone with their key have no list and no bit in `shared`; that bitmap stays in
 * the cache where an array over all rows does not, and most keys of most joins are alone.
 */
export interface EqualRows {
  readonly shared: Uint8Array;
  readonly firstOf: Uint32Array;
  readonly lists: Uint32Array;
}

/** List the equal rows of every partition; a piece is some neighbouring partitions. */
export interface ListJob {
  readonly kind: "list";
  readonly build: SortedKeys;
  /** What says who follows whom becomes `firstOf`. */
  readonly equal: EqualRows;
}

/** Room for the lists of a side whose leaders were found; `follows` is overwritten as they are made. */
export function roomForLists(follows: Uint32Array, memory: RowMemory): EqualRows {
  const shared = memory.bytes(bitmapBytes(follows.length));
  return { shared, firstOf: follows, lists: memory.words(listWords(follows.length)) };
}

/** Words of the lists of so many rows: two in each at least, and one for their number. */
const listWords = (rows: number) => Math.ceil(1.5 * rows);

/** Lists all rows, which are not sorted. */
export function listEqualRows(follows: Uint32Array, memory: RowMemory): EqualRows {
  const equal = roomForLists(follows, memory);
  for (let row = 0; row < follows.length; row++) countFollower(equal, row);
  let end = 0;
  for (let row = 0; row < follows.length; row++) end = placeRow(equal, row, end);
  return equal;
}

export function openList({ build, equal }: ListJob): Work {
  const { records, stride, bits } = build;
  const starts = new Uint32Array((1 << bits) + 1);
  for (let partition = 0; partition < 1 << bits; partition++)
    starts[partition + 1] = starts[partition] + countRecords(build, partition);
  return eachPartition(bits, function* (partition) {
    for (const [from, to] of recordRanges(build, partition)) {
      for (let at = from * stride + 1; at < to * stride; at += stride) countFollower(equal, records[at]);
      if (to - from === AT_ONCE) yield;
    }
    let end = listWords(starts[partition]);
    for (const [from, to] of recordRanges(build, partition)) {
      for (let at = from * stride + 1; at < to * stride; at += stride)
        end = placeRow(equal, records[at], end);
      if (to - from === AT_ONCE) yield;
    }
    return 0;
  });
}

function countFollower({ shared, firstOf }: EqualRows, row: number): void {
  if (firstOf[row] === 0) return;
  const leader = firstOf[row] - 1;
  // neighbouring rows are other threads', too
  if (firstOf[leader]++ === 0) Atomics.or(shared, leader >>> 3, 1 << (leader & 7));
}

/** @param end of the lists before. @returns the end of the lists now */
function placeRow({ shared, firstOf, lists }: EqualRows, row: number, end: number): number {
  if (isSet(shared, row)) {
    const followers = firstOf[row];
    lists[end] = 1;
    lists[end + 1] = row;
    firstOf[row] = end;
    return end + followers + 2;
  }
  if (firstOf[row] === 0) return end;
  const first = firstOf[firstOf[row] - 1];
  lists[first + ++lists[first]] = row;
  return end;
}
