/**
 * A chunk in the order of its partitions: the same operation as on the chunk itself, by the same direct kernels, whose
 * accesses now stay within the cache. Results come back in the order of the batch (unpermute.ts).
 */

import type { InsertTally } from "../../engine.js";
import type { BoundChunk, ResultColumns } from "../../gpu/batch/bound-chunk.js";
import { bindAt, type Column } from "../../gpu/batch/columns.js";
import type { Recorder } from "../../gpu/runtime.js";
import { slotFormat } from "../../slot-format.js";
import { eraseChunk } from "../direct/erase.js";
import { type InsertArguments, insertChunk } from "../direct/insert.js";
import { type InsertAndFindArguments, insertAndFindChunk } from "../direct/insert-and-find.js";
import { type FindArguments, lookUpChunk } from "../direct/look-up.js";
import { ABSENT } from "../table/control.js";
import type { TableState } from "../table/table-state.js";
import { FEW_PARTITIONS, MOST_PARTITIONS, type Partitions, splitByPartition } from "./multisplit.js";
import { prepareUnpermute } from "./unpermute.js";

/**
 * Bytes of table that a partition has at most, if partitions are not too many then: a fraction of a large GPU's cache.
 */
const PARTITION_TABLE_BYTES = 2 ** 23;

/** Partitions for the direct kernels. */
export function cachePartitions(state: TableState): Partitions {
  const { slots } = state.spec;
  const partitionSlots = PARTITION_TABLE_BYTES / (slotFormat(state.spec).slotWords * 4);
  const wanted = Math.min(Math.max(Math.ceil(slots / partitionSlots), FEW_PARTITIONS), MOST_PARTITIONS);
  const shift = Math.max(0, Math.ceil(Math.log2(slots / wanted)));
  return { shift, count: Math.ceil(slots / 2 ** shift) };
}

/** A chunk as the direct kernels are to see it. */
interface SortedChunk {
  /** Keys, and the values that it brings, in the order of partitions. */
  readonly chunk: BoundChunk;
  /** Scratch memory for its results, in that order. */
  readonly columns: ResultColumns;
  /** Brings results to where the batch has them. */
  readonly after: ((recorder: Recorder) => void) | undefined;
}

/** Inserts a chunk by partitions; null where there is too little memory for that. */
export async function insertByPartition(
  state: TableState,
  chunk: BoundChunk,
  args: InsertArguments,
): Promise<InsertTally | null> {
  const sorted = await chunk.scratch.attempt(() => sort(state, chunk, {}, []));
  return sorted && insertChunk(state, sorted.chunk, args);
}

/** Erases a chunk by partitions; null where there is too little memory for that. */
export async function eraseByPartition(state: TableState, chunk: BoundChunk): Promise<number | null> {
  const sorted = await chunk.scratch.attempt(() => sort(state, chunk, {}, []));
  return sorted && eraseChunk(state, sorted.chunk);
}

/** insertAndFind of a chunk by partitions; null where there is too little memory for that. */
export async function insertAndFindByPartition(
  state: TableState,
  chunk: BoundChunk,
  args: InsertAndFindArguments,
): Promise<InsertTally | null> {
  const sorted = await chunk.scratch.attempt(() => sort(state, chunk, args.results, []));
  if (!sorted) return null;
  const { columns, after } = sorted;
  const results = { values: columns.values, flags: columns.flags as Column };
  return insertAndFindChunk(state, sorted.chunk, { ...args, results }, after);
}

/** Looks a chunk up by partitions; null where there is too little memory for that. */
export async function findByPartition(
  state: TableState,
  chunk: BoundChunk,
  { results, fill, reads }: FindArguments,
): Promise<true | null> {
  const sorted = await chunk.scratch.attempt(() =>
    sort(state, chunk, results, fill, results.values !== undefined),
  );
  if (!sorted) return null;
  const { columns, after } = sorted;
  await lookUpChunk(state, sorted.chunk, { results: columns, fill: [ABSENT], reads }, { after });
  return true;
}

/**
 * Brings a chunk into the order of its partitions; results come back from there, their values marked where keys are
 * absent. An operation that brings values and answers values has one column
 * for both: what was brought is in the table before anything is answered.
 */
async function sort(
  state: TableState,
  chunk: BoundChunk,
  results: ResultColumns,
  fill: readonly number[],
  marked = false,
): Promise<SortedChunk> {
  const { scratch, count } = chunk;
  const placed = results.values !== undefined || results.flags !== undefined;
  const kind = chunk.values ? "pair" : "key";
  const partitions = cachePartitions(state);
  const unpermuting = placed
    ? prepareUnpermute(state, chunk, partitions, { results, fill, kind, marked })
    : null;
  // told where it is awaited
  unpermuting?.catch(() => {});
  const items = await splitByPartition(state, chunk, partitions, { kind, put: "columns", placed });
  const { keyWords, valueWords } = slotFormat(state.spec);
  const brought = items.values && bindAt(items.values.buffer, 0, count * valueWords * 4);
  const sorted: BoundChunk = {
    ...chunk,
    count: items.selected,
    keys: bindAt(items.keys.buffer, 0, items.selected * keyWords * 4),
    values: brought,
    mask: undefined,
    partitionShift: partitions.shift,
  };
  if (!unpermuting) return { chunk: sorted, columns: {}, after: undefined };
  const foundWords = valueWords || keyWords;
  const columns = {
    values: results.values && (brought ?? (await scratch.column("u32", count * foundWords))),
    flags: results.flags && (await scratch.column("u8", count)),
  };
  const unpermute = await unpermuting;
  return { chunk: sorted, columns, after: (recorder) => unpermute(recorder, items, columns) };
}
