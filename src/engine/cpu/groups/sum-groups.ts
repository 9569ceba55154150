/**
 * Groups rows and adds up their values in one pass: by slices of rows (sum-slices.ts) as long as a thread's groups stay in
 * its cache, or follow each other in it, else by partitions of sorted keys (sum-partitions.ts). Columns are copied to memory
 * that threads share piece by piece, while other threads work.
 */
import { LaneSums } from "../../../host/lanes.js";
import { longestDenseRange } from "../../dense-keys.js";
import type { SumCall, SummedColumn, SummedGroups } from "../../group-sums.js";
import type { RowKeys, WordColumn } from "../../rows.js";
import type { CpuEngine } from "../cpu-engine.js";
import { Pace } from "../rows/pace.js";
import { ALL_BITS, RowRun } from "../rows/row-run.js";
import { aloneThread, rowThreads } from "../rows/row-threads.js";
import { FULL, LOST } from "./aggregate-jobs.js";
import { type CloseKeys, closeKeys, narrowKeys } from "./close-columns.js";
import { firstRowsOf } from "./first-rows.js";
import { phaseClock } from "./group-rows.js";
import { chooseLayout, type Layout } from "./key-layout.js";
import { keyRange } from "./key-tables.js";
import { leadersOfStrings } from "./leaders.js";
import { partitionBits } from "./partitions.js";
import { keySide } from "./side-columns.js";
import { sumByPartition } from "./sum-partitions.js";
import { countRuns, sumRuns } from "./sum-runs.js";
import { MOST_GROUPS, type Room, Slices, SMALL, threadsFor } from "./sum-slices.js";
import { guessed, withGrids } from "./summed-columns.js";

/** What a thread alone has in its memory at most, which few rows are not worth sorting for: a group for so many rows. */
const MOST_GROUPS_ALONE = 2 ** 18;
const ROWS_A_GROUP = 2;
/** Bytes of a thread's groups that an array finds: keys of any order stay in the L2 cache. */
const RANGE_BYTES = 2 ** 20;
/** The same of all threads a row, where keys are in some order: as much as sorting takes. */
const RANGE_BYTES_A_ROW = 32;
/** Samples of rows that say whether keys are in some order, rows of each, and how far apart their keys are at most. */
const SAMPLES = 32;
const SAMPLE_ROWS = 2 ** 10;
const SAMPLE_RANGE = 2 ** 12;
/** Threads to which one thread's pass over sorted keys without values is no slower. An estimate. */
const THREADS_OF_A_PASS = 4;
/** Integers within a range of so many, and a null, have places that a word holds. */
const CLOSE = 2 ** 31;

/**
 * @param engine null: the calling thread works alone
 * @throws LimitError when there is no memory for it
 */
export async function sumGroups(
  engine: CpuEngine | null,
  keys: RowKeys,
  columns: readonly SummedColumn[],
  call: SumCall,
  hashMask = ALL_BITS,
): Promise<SummedGroups> {
  call.signal?.throwIfAborted();
  const threads = engine === null || call.alone ? aloneThread : rowThreads(engine);
  const work = threads.work(keys.rows);
  const pace = new Pace(call, keys.rows, () => threads.guard());
  try {
    const run = new RowRun(threads, work, pace, hashMask);
    const summed = await new Summing(run, columns, call).of(keys);
    pace.finish();
    return summed;
  } finally {
    work.release();
  }
}

class Summing {
  readonly #phase: (name: string) => void;

  constructor(
    readonly run: RowRun,
    readonly columns: readonly SummedColumn[],
    readonly call: SumCall,
  ) {
    this.#phase = phaseClock(call.log);
  }

  async of(keys: RowKeys): Promise<SummedGroups> {
    const { run } = this;
    const runs = await this.#runs(keys);
    if (runs !== null) return runs;
    const ofStrings = (strings: RowKeys) => leadersOfStrings(run, strings);
    const close = await closeKeys(run, narrowKeys(run, keys), true, CLOSE, ofStrings);
    const places = this.#placesAlone(close);
    if (places > 0) {
      this.#phase("pack keys");
      this.call.log?.beginChunk({ strategy: "direct", reason: "the keys lie close together", partitions: 1 });
      const [{ data }] = close.keys.columns as readonly WordColumn[];
      const firsts = await firstRowsOf(run, data, places);
      this.#phase("find first rows");
      return { firsts, groupOf: null, columns: [] };
    }
    const layout = chooseLayout(close.keys, close.keys, true);
    const side = keySide(close.keys, layout, run.work);
    this.#phase("pack keys");
    const groupOf = this.call.numbers ? run.work.words(keys.rows) : null;
    let columns = guessed(this.columns) ?? (await withGrids(run, this.columns, keys.rows));
    let room = SMALL;
    const slices = async () => new Slices(run, side, layout, columns, groupOf, room).sum();
    let made = await slices();
    if (made === LOST) {
      columns = await withGrids(run, this.columns, keys.rows);
      made = await slices();
    }
    const larger = made === FULL ? this.#largerRoom(close, layout, new LaneSums(columns).stride) : null;
    if (larger !== null) {
      room = larger;
      made = await slices();
    }
    if (made === LOST) {
      columns = await withGrids(run, this.columns, keys.rows);
      made = await slices();
    }
    this.#phase("sum by slices");
    if (typeof made !== "number") {
      this.call.log?.beginChunk({
        strategy: "direct",
        reason: "a thread's groups fit the cache",
        partitions: 1,
      });
      return made;
    }
    const bits = partitionBits(keys.rows, layout);
    const reason = "a thread's groups would outgrow the cache";
    this.call.log?.beginChunk({ strategy: "partitioned", reason, partitions: 2 ** bits });
    run.pace.share = 0.5; // rows are sorted, then summed up
    return sumByPartition(run, side, layout, columns, groupOf, this.call.rounded === true, this.#phase);
  }

  /** Groups that are runs of rows; null where keys fall, or several threads look them up faster. */
  async #runs(keys: RowKeys): Promise<SummedGroups | null> {
    const { run, call, columns } = this;
    const isPass = columns.length === 0 && threadsFor(run, keys.rows) <= THREADS_OF_A_PASS;
    const runs = (call.alone || isPass) && run.hashing.mask === ALL_BITS ? countRuns(keys) : 0;
    if (runs === 0) return null;
    this.call.log?.beginChunk({ strategy: "direct", reason: "the keys are sorted", partitions: 1 });
    const groupOf = call.numbers ? new Uint32Array(keys.rows) : null;
    const likely = guessed(columns);
    const made = likely ? await sumRuns(run, keys, runs, likely, groupOf) : LOST;
    const summed =
      made === LOST
        ? await sumRuns(run, keys, runs, await withGrids(run, columns, keys.rows), groupOf)
        : made;
    this.#phase("sum runs");
    return summed === LOST ? null : summed;
  }

  /** Room for more groups than the caches hold; null where sorting takes less time or memory. */
  #largerRoom({ keys, range: known }: CloseKeys, { exact }: Layout, stride: number): Room | null {
    const { rows, columns } = keys;
    const [column] = columns;
    if (exact && column.kind === "words") {
      const threads = threadsFor(this.run, rows);
      const bytes = inSomeOrder(column.data, rows) ? (RANGE_BYTES_A_ROW * rows) / threads : RANGE_BYTES;
      const most = bytes / (8 * stride + 16);
      const range = known ?? keyRange({ rows, codes: column.data, skip: null }, most);
      if (range && range.size <= most) return { groups: range.size, range };
    }
    if (!this.call.alone) return null;
    const groups = Math.min(rows / ROWS_A_GROUP, MOST_GROUPS_ALONE);
    return { groups: 2 ** Math.ceil(Math.log2(groups)), range: null };
  }

  /** How many numbers keys are below, where that is all there is to know of a group: its first row. Else 0. */
  #placesAlone({ keys, range }: CloseKeys): number {
    const { run, columns, call } = this;
    const isAlone = columns.length === 0 && !call.numbers && run.hashing.mask === ALL_BITS;
    if (!isAlone || range === null || range.size <= MOST_GROUPS) return 0;
    return range.size <= longestDenseRange(keys.rows) ? range.size : 0;
  }
}

/** Whether keys of rows that follow each other lie close together. */
function inSomeOrder(keys: Uint32Array, rows: number): boolean {
  const step = Math.max(SAMPLE_ROWS, Math.floor(rows / SAMPLES));
  for (let from = 0; from < rows; from += step) {
    const codes = keys.subarray(from, Math.min(rows, from + SAMPLE_ROWS));
    if (keyRange({ rows: codes.length, codes, skip: null }, SAMPLE_RANGE) === null) return false;
  }
  return true;
}
