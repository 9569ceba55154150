/**
 * A chunk in the order of its partitions: the same operation as on the chunk itself, by the same direct kernels, whose accesses
 * now stay within the cache. Results come back in the order of the batch (unpermute.ts).
 */

import type { InsertTally } from "../../engine.js";
import type { BoundChunk, ResultColumns } from "../../gpu/batch/bound-chunk.js";
import { bindAt, type Column } from "../../gpu/batch/columns.js";
import type { Recorder } from "../../gpu/runtime.js";
import { slotFormat } from "../../slot-format.js";
import { eraseChunk } from "../direct/erase.js";
import { reserveWorklists } from "../direct/further-rounds.js";
import { type InsertArguments, insertChunk } from "../direct/insert.js";
import { type InsertAndFindArguments, insertAndFindChunk } from "../direct/insert-and-find.js";
import { type FindArguments, lookUpChunk } from "../direct/look-up.js";
import type { TableState } from "../table/table-state.js";
import {
  FEW_PARTITIONS,
  MOST_PARTITIONS,
  type PartitionedItems,
  type Partitions,
  splitByPartition,
} from "./multisplit.js";
import { prepareUnpermute, SENTINEL } from "./unpermute.js";

/** Bytes of table that a partition has at most, if partitions are not too many then: a fraction of a large GPU's cache. */
const PARTITION_TABLE_BYTES = 2 ** 23;

/** Partitions for the direct kernels. */
export function cachePartitions(state: TableState): Partitions {
  const { slots } = state.spec;
  const partitionSlots = PARTITION_TABLE_BYTES / (slotFormat(state.spec).slotWords * 4);
  const wanted = Math.min(Math.max(Math.ceil(slots / partitionSlots), FEW_PARTITIONS), MOST_PARTITIONS);
  const shift = Math.max(0, Math.ceil(Math.log2(slots / wanted)));
  return { shift, count: Math.ceil(slots / 2 ** shift) };
}

/** What a split may do that shows to be wrong only afterwards. */
interface Guesses {
  /** Partitions' sizes come from a sample; then elements may be looked up that were not given. */
  readonly sampled: boolean;
  /** Absent keys have the value SENTINEL in place of flags. */
  readonly sentinels: boolean;
}

const NO_GUESSES: Guesses = { sampled: false, sentinels: false };

/** A chunk as the direct kernels are to see it. */
interface SortedChunk {
  /** Keys, and the values that it brings, in the order of partitions. */
  readonly chunk: BoundChunk;
  /** Scratch memory for its results, in that order. */
  readonly columns: ResultColumns;
  readonly items: PartitionedItems;
  /** Brings results to where the batch has them. */
  readonly after: ((recorder: Recorder) => void) | undefined;
}

/** Inserts a chunk by partitions; null where there is too little memory for that. */
export async function insertByPartition(
  state: TableState,
  chunk: BoundChunk,
  args: InsertArguments,
): Promise<InsertTally | null> {
  const sorted = await chunk.scratch.attempt(() => sort(state, chunk, {}, [], NO_GUESSES));
  return sorted && insertChunk(state, sorted.chunk, args);
}

/** Erases a chunk by partitions; null where there is too little memory for that. */
export async function eraseByPartition(state: TableState, chunk: BoundChunk): Promise<number | null> {
  const sorted = await chunk.scratch.attempt(() => sort(state, chunk, {}, [], NO_GUESSES));
  return sorted && eraseChunk(state, sorted.chunk);
}

/** insertAndFind of a chunk by partitions; null where there is too little memory for that. */
export async function insertAndFindByPartition(
  state: TableState,
  chunk: BoundChunk,
  args: InsertAndFindArguments,
): Promise<InsertTally | null> {
  const sorted = await chunk.scratch.attempt(() => sort(state, chunk, args.results, [], NO_GUESSES));
  if (!sorted) return null;
  const { columns, after } = sorted;
  const results = { values: columns.values, flags: columns.flags as Column };
  return insertAndFindChunk(state, sorted.chunk, { ...args, results }, after);
}

/** Looks a chunk up by partitions; null where there is too little memory for that. */
export function findByPartition(
  state: TableState,
  chunk: BoundChunk,
  args: FindArguments,
): Promise<true | null> {
  return lookUpByPartition(state, chunk, args, true);
}

/** @param guesses guess first, and do without when a guess was wrong. */
export async function lookUpByPartition(
  state: TableState,
  chunk: BoundChunk,
  args: FindArguments,
  guesses: boolean,
): Promise<true | null> {
  const { results, fill, reads } = args;
  const { disabled } = state;
  const both = results.values !== undefined && results.flags !== undefined;
  const sentinels = guesses && both && !disabled.has("sentinels");
  const sampled = guesses && !disabled.has("samples");
  const sorted = await chunk.scratch.attempt(async () => {
    const sorted = await sort(state, chunk, results, fill, { sampled, sentinels });
    // there may be a few more elements than were given
    await reserveWorklists(state, sorted.chunk);
    return sorted;
  });
  if (!sorted) return null;
  const { columns, items, after } = sorted;
  const looked = { results: columns, fill: sentinels ? [SENTINEL] : fill, reads: [...reads, ...items.reads] };
  const done = await lookUpChunk(state, sorted.chunk, looked, { sentinels, after });
  const wrong = whatWasWrong(items, done);
  if (wrong === null) return true;
  disabled.add(wrong);
  return lookUpByPartition(state, chunk, args, false);
}

/** Which guess was wrong, if one was. */
export function whatWasWrong(
  items: PartitionedItems,
  { aborted }: { aborted: number },
): "samples" | "sentinels" | null {
  if (items.lost()) return "samples";
  return aborted > 0 ? "sentinels" : null;
}

/**
 * Brings a chunk into the order of its partitions. An operation that brings values and answers values has one column for both: what
 * was brought is in the table before anything is answered.
 */
async function sort(
  state: TableState,
  chunk: BoundChunk,
  results: ResultColumns,
  fill: readonly number[],
  { sampled, sentinels }: Guesses,
): Promise<SortedChunk> {
  const { scratch, count } = chunk;
  const placed = results.values !== undefined || results.flags !== undefined;
  const kind = chunk.values ? "pair" : "key";
  const partitions = cachePartitions(state);
  const unpermuting = placed
    ? prepareUnpermute(state, chunk, partitions, { results, fill, kind, sentinels })
    : null;
  // told where it is awaited
  unpermuting?.catch(() => {});
  const items = await splitByPartition(state, chunk, partitions, { kind, put: "columns", placed, sampled });
  const { keyWords, valueWords } = slotFormat(state.spec);
  const brought = items.values && bindAt(items.values.buffer, 0, count * valueWords * 4);
  const sorted: BoundChunk = {
    ...chunk,
    count: items.filled,
    keys: bindAt(items.keys.buffer, 0, items.filled * keyWords * 4),
    values: brought,
    mask: undefined,
    partitionShift: partitions.shift,
  };
  if (!unpermuting) return { chunk: sorted, columns: {}, items, after: undefined };
  const foundWords = valueWords || keyWords;
  const columns = {
    values: results.values && (brought ?? (await scratch.column("u32", items.room * foundWords))),
    flags: results.flags && !sentinels ? await scratch.column("u8", items.room) : undefined,
  };
  const unpermute = await unpermuting;
  return { chunk: sorted, columns, items, after: (recorder) => unpermute(recorder, items, columns) };
}
