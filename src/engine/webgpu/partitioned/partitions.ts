/**
 * A chunk in the order of its partitions: the same operation as on the chunk itself, by the same direct kernels, whose accesses
 * now stay within the cache. Results come back in the order of the batch (unpermute.ts).
 */

import type { PlanLog } from "../../plan.js";
import { slotFormat } from "../../slot-format.js";
import { bindAt } from "../batch/columns.js";
import { lookUpChunk } from "../direct/look-up.js";
import { type BoundChunk, reserveWorklists } from "../direct/rounds.js";
import type { Readback } from "../memory/readback.js";
import type { TableState } from "../table/table-state.js";
import {
  FEW_PARTITIONS,
  MOST_PARTITIONS,
  type PartitionedItems,
  type Partitions,
  splitByPartition,
} from "./multisplit.js";
import type { Choice } from "./planner.js";
import { prepareUnpermute, type ResultColumns, SENTINEL } from "./unpermute.js";

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
  sampled: boolean;
  /** Absent keys have the value SENTINEL in place of flags. */
  sentinels: boolean;
}

/**
 * The chunk as the direct kernels are to see it. Its keys, and the values that it brings, are in the order of partitions; its result
 * columns are scratch memory, and `finish` brings them to those given. An operation that brings values and answers values has one
 * column for both: what was brought is in the table before anything is answered.
 */
async function partitioned(
  state: TableState,
  chunk: BoundChunk,
  results: ResultColumns,
): Promise<BoundChunk> {
  return (await split(state, chunk, results, { sampled: false, sentinels: false })).sorted;
}

/** The same for a lookup, which guesses, and does without when it was wrong. */
async function partitionedLookup(
  state: TableState,
  chunk: BoundChunk,
  results: ResultColumns,
  log: PlanLog | undefined,
): Promise<BoundChunk> {
  const { disabled } = state;
  const sentinels = results.values !== undefined && results.flags !== undefined && !disabled.has("sentinels");
  const { sorted, items } = await split(state, chunk, results, {
    sampled: !disabled.has("samples"),
    sentinels,
  });
  // there may be a few more elements than were given
  await reserveWorklists(state, sorted);
  const lookUp = async (fill: readonly number[], reads: readonly Readback[]) => {
    const first = sentinels ? [SENTINEL] : fill;
    const done = await lookUpChunk(state, sorted, first, [...reads, ...items.reads]);
    const wrong = whatWasWrong(items, done);
    if (wrong === null) return done;
    disabled.add(wrong);
    return lookUpInPartitions(state, chunk, results, log, { fill, reads });
  };
  return { ...sorted, lookUp };
}

/** Which of its guesses has disabled a lookup, if any has. */
export function whatWasWrong(
  items: PartitionedItems,
  { aborted }: { aborted: number },
): "samples" | "sentinels" | null {
  if (items.lost()) return "samples";
  return aborted > 0 ? "sentinels" : null;
}

/**
 * A chunk by partitions; null, and so noted, where there is too little memory for that.
 * @param planned what the planner took: pages may have turned out not to do.
 * @param guesses for a lookup, which may guess.
 */
export async function inPartitions(
  state: TableState,
  chunk: BoundChunk,
  results: ResultColumns,
  log: PlanLog | undefined,
  planned: Choice["strategy"],
  guesses = false,
  reason = planned === "pages" ? "pages take more memory than there is, or would be too crowded" : undefined,
): Promise<BoundChunk | null> {
  const sorted = await chunk.scratch.attempt(() =>
    guesses ? partitionedLookup(state, chunk, results, log) : partitioned(state, chunk, results),
  );
  if (!sorted)
    log?.correctChunk({ strategy: "direct", reason: "there is too little memory", partitions: 1, pages: 0 });
  else log?.correctChunk({ partitions: cachePartitions(state).count, pages: 0, ...(reason && { reason }) });
  return sorted;
}

/** Looks a chunk up after all: by partitions, or for want of memory directly. */
export async function lookUpInPartitions(
  state: TableState,
  chunk: BoundChunk,
  results: ResultColumns,
  log: PlanLog | undefined,
  { fill, reads }: { fill: readonly number[]; reads: readonly Readback[] },
  guesses = false,
  reason?: string,
): Promise<{ aborted: number }> {
  const { values, flags } = results;
  const sorted = await inPartitions(state, chunk, results, log, "partitions", guesses, reason);
  return lookUpChunk(state, sorted ?? { ...chunk, values, flags }, fill, reads);
}

async function split(
  state: TableState,
  chunk: BoundChunk,
  results: ResultColumns,
  { sampled, sentinels }: Guesses,
): Promise<{ sorted: BoundChunk; items: PartitionedItems }> {
  const { scratch, count } = chunk;
  const placed = results.values !== undefined || results.flags !== undefined;
  const kind = chunk.values ? "pair" : "key";
  const partitions = cachePartitions(state);
  const unpermuting = placed ? prepareUnpermute(state, chunk, results, partitions, kind, sentinels) : null;
  // told where it is awaited
  unpermuting?.catch(() => {});
  const items = await splitByPartition(state, chunk, partitions, { kind, put: "columns", placed, sampled });
  const brought = items.values && bindAt(items.values.buffer, 0, count * 4);
  const sorted: BoundChunk = {
    ...chunk,
    count: items.filled,
    keys: bindAt(items.keys.buffer, 0, items.filled * 4),
    values: brought,
    mask: undefined,
    partitionShift: partitions.shift,
    sentinels,
  };
  if (!unpermuting) return { sorted, items };
  const column = (type: "u32" | "u8") => scratch.column(type, items.room);
  sorted.values = results.values ? (brought ?? (await column("u32"))) : brought;
  sorted.flags = results.flags && !sentinels ? await column("u8") : undefined;
  const unpermute = await unpermuting;
  const from = { values: results.values && sorted.values, flags: sorted.flags };
  sorted.finish = (encoder) => unpermute(encoder, items, from);
  return { sorted, items };
}
