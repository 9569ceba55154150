/**
 * Sides that are too large for one table: rows are sorted by partition (sort.ts), and each partition gets a table of
 * its own that fits the L2 cache. A partition is built by the thread that takes it.
 *
 * Slices, and the records of a partition within one, are in row order, so a partition's rows come in row order too, and
 * of equal rows the first leads: results are those of one thread going through all rows. Equal rows are in one
 * partition, so each word of `follows` has one writer.
 */

import { ArrivingRows } from "../../../host/arrival.js";
import { Scratch } from "../../../host/row-memory.js";
import type { Work } from "../../../host/work.js";
import type { RowRun } from "../rows/row-run.js";
import type { Layout } from "./key-layout.js";
import { ExactTable, type KeyTable, Slots, type TableKeys } from "./key-tables.js";
import type { RowHashing } from "./row-keys.js";
import { RowTable } from "./row-table.js";
import { arrivingColumns, type KeySide } from "./side-columns.js";
import { type MovedValues, recordWords, type SortedKeys } from "./sort.js";

/**
 * Rows and bytes of records of a side in a partition. Tuned on an EPYC 9004 (1 MiB of L2 cache a core), Node 20, with
 * joins of 2^20 and 2^22 rows on both sides.
 */
const PARTITION_ROWS = 2 ** 13;
const PARTITION_BYTES = 2 ** 18;
/** More partitions than this sort slower than they join faster (same measurements). */
const MOST_PARTITION_BITS = 10;

/** Partitions of a piece of a job: their starts share cache lines. */
const PARTITIONS = 4;

/**
 * Records after which the event loop may get its turn. Partitions have more where many rows have one key, or hashes
 * crowd.
 */
export const AT_ONCE = 2 ** 14;

/** log2 of the partitions for so many rows. */
export function partitionBits(rows: number, layout: Layout): number {
  const partitionRows = Math.min(PARTITION_ROWS, PARTITION_BYTES / (4 * recordWords(layout)));
  return Math.max(1, Math.min(MOST_PARTITION_BITS, Math.ceil(Math.log2(rows / partitionRows))));
}

/**
 * Sorts rows `first` to `first + rows` of a side into 2^bits partitions. The result is in `kept`.
 * @param valuesOf values of some rows that are to be sorted with them
 * @param sliceRows see RowRun.overChunks
 */
export async function sortByPartition(
  run: RowRun,
  side: KeySide,
  first: number,
  rows: number,
  layout: Layout,
  bits: number,
  kept = new Scratch(run.work),
  valuesOf: (rows: ArrivingRows) => readonly MovedValues[] = () => [],
  sliceRows = run.threads.tuning.slice,
): Promise<SortedKeys> {
  const { width, exact } = layout;
  const stride = recordWords(layout);
  const records = kept.words("records", rows * stride);
  const starts = kept.words("starts", run.slices(rows, sliceRows) * ((1 << bits) + 1));
  const to = { rows, sliceRows, bits, stride, records, starts, exact, width, bytes: side.bytes };
  const makeJob = (from: number, count: number, scratch: Scratch) => {
    const arriving = new ArrivingRows(run.work, scratch, first + from, count);
    const keys = {
      side: arrivingColumns(side, arriving),
      rows: count,
      sliceRows,
      layout,
      hashing: run.hashing,
    };
    const job = {
      kind: "sort",
      ...keys,
      firstSlice: from / sliceRows,
      to,
      values: valuesOf(arriving),
    } as const;
    return { job, bring: arriving.bring };
  };
  await run.overChunks(rows, makeJob, true, sliceRows);
  return to;
}

/** The tables of a side's partitions, one at a time in the same memory. */
export class PartitionTables {
  /** The table that `build` has built last. */
  readonly table: KeyTable;
  readonly #keys: SortedKeys;
  readonly #build: TableKeys;
  readonly #slots = new Slots();

  constructor(keys: SortedKeys, hashing: RowHashing) {
    this.#keys = keys;
    this.#build = recordKeys(keys);
    this.table = keys.exact ? new ExactTable(this.#slots, hashing) : new RowTable(this.#slots, this.#build);
  }

  /** Builds a partition's table. Returns how many of its rows follow another; their leaders + 1 go to `follows`. */
  *build(partition: number, follows: Uint32Array): Generator<void, number> {
    this.#slots.reset(countRecords(this.#keys, partition));
    let repeats = 0;
    for (const [from, to] of recordRanges(this.#keys, partition)) {
      repeats += this.table.insert(this.#build, from, to, follows);
      if (to - from === AT_ONCE) yield;
    }
    return repeats;
  }
}

/** Records of a partition, slice by slice, `AT_ONCE` at most. */
export function* recordRanges(
  { starts, bits }: Pick<SortedKeys, "starts" | "bits">,
  partition: number,
): Generator<readonly [from: number, to: number]> {
  for (let at = partition; at < starts.length; at += (1 << bits) + 1) {
    for (let from = starts[at]; from < starts[at + 1]; from += AT_ONCE)
      yield [from, Math.min(starts[at + 1], from + AT_ONCE)];
  }
}

/** Work on all partitions, some neighbouring ones a piece; `run` returns the rows that it found to follow another. */
export function eachPartition(bits: number, run: (partition: number) => Generator<void, number>): Work {
  const partitions = 1 << bits;
  let repeats = 0;
  return {
    pieces: Math.ceil(partitions / PARTITIONS),
    *run(piece) {
      const end = Math.min(partitions, (piece + 1) * PARTITIONS);
      for (let partition = piece * PARTITIONS; partition < end; partition++) repeats += yield* run(partition);
      yield;
    },
    result: () => ({ repeats, made: [] }),
  };
}

/** Find the leaders of every partition; a piece is some neighbouring partitions. */
export interface LeadJob {
  readonly kind: "lead";
  readonly keys: SortedKeys;
  /** Per row: its leader + 1, written for rows that follow one. */
  readonly follows: Uint32Array;
  readonly hashing: RowHashing;
}

export function openLead({ keys, follows, hashing }: LeadJob): Work {
  const tables = new PartitionTables(keys, hashing);
  return eachPartition(keys.bits, (partition) => tables.build(partition, follows));
}

/** Sorted keys as tables take them. */
export function recordKeys({ records, stride, width, bytes }: SortedKeys): TableKeys {
  return {
    codes: records,
    words: records,
    codeStride: stride,
    stride,
    base: 2,
    recorded: true,
    width,
    bytes,
    skip: null,
  };
}

/** How many records a partition has. */
export function countRecords(
  { starts, bits }: Pick<SortedKeys, "starts" | "bits">,
  partition: number,
): number {
  let count = 0;
  for (let at = partition; at < starts.length; at += (1 << bits) + 1) count += starts[at + 1] - starts[at];
  return count;
}
