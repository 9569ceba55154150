/**
 * One large table that threads fill together. Each takes regions of its slots in turn, goes through all rows, and puts
 * in those whose home slot is there, in their order: so equal rows are one thread's, and the first of them leads. Keys
 * that a region has no slot for are left to the caller: so are all that are equal to them.
 */
import { silently, type Work } from "../../../host/work.js";
import type { RowRun } from "../rows/row-run.js";
import { Slots, type TableKeys, unsorted } from "./key-tables.js";
import { AT_ONCE } from "./partitions.js";
import { hashKeys, mixedWord, type PackedKeys } from "./row-keys.js";
import { sameKey, TOUCHED } from "./row-table.js";

/** Compute the hashes of packed keys; a piece is a slice. */
export interface HashJob {
  readonly kind: "hash";
  readonly keys: PackedKeys;
  readonly sliceRows: number;
}

/** Put packed keys, whose hashes are there, into slots; a piece is a region. */
export interface FillJob {
  readonly kind: "fill";
  readonly keys: PackedKeys;
  readonly slots: Uint32Array;
  readonly regions: number;
  /** Zeroed. Per row: its leader + 1 for rows that follow one, `LATE` for rows that are left. */
  readonly follows: Uint32Array;
}

const LATE = 2 ** 32 - 1;
/** Regions for each thread: one that comes late leaves the others less to do. */
const REGIONS_PER_THREAD = 2;

/**
 * Fills empty slots with keys. Answers how many rows follow another.
 * @param insert puts in the row of a number alone, and answers whether it follows another
 */
export async function fillTogether(
  run: RowRun,
  packed: PackedKeys,
  slots: Uint32Array,
  follows: Uint32Array,
  insert: (row: number) => number,
): Promise<number> {
  const { rows, exact } = packed;
  const brief = run.work.another();
  const codes = brief.reachable(packed.codes);
  const keys = exact ? { ...packed, codes, words: codes } : packed;
  const sliceRows = run.threads.tuning.slice;
  if (!exact) await run.share({ kind: "hash", keys, sliceRows }, rows, undefined, run.pace.rest);
  const regions = 2 ** Math.ceil(Math.log2(REGIONS_PER_THREAD * run.threads.count));
  const job = { kind: "fill", keys, slots, regions, follows } as const;
  const results = await run.share(job, rows, undefined, (part = 0) => run.pace.pause(part * rows));
  brief.release();
  run.pace.add(rows);
  await run.pace.pause();
  let repeats = results.reduce((sum, result) => sum + result.repeats, 0);
  for (let row = follows.indexOf(LATE); row >= 0; row = follows.indexOf(LATE, row + 1)) {
    follows[row] = 0;
    repeats += insert(row);
    await run.pace.turn();
  }
  return repeats;
}

export function openHash({ keys, sliceRows }: HashJob): Work {
  const hash = (slice: number) =>
    hashKeys(keys, slice * sliceRows, Math.min(keys.rows, (slice + 1) * sliceRows));
  return silently(Math.ceil(keys.rows / sliceRows), hash);
}

export function openFill({ keys, slots, regions, follows }: FillJob): Work {
  const build = unsorted(keys);
  const own = new Slots(slots);
  const each = slots.length / 2 / regions;
  let repeats = 0;
  return {
    pieces: regions,
    *run(region) {
      const fill = new Region(build, keys, own, region * each, (region + 1) * each);
      for (let from = 0; from < keys.rows; from += AT_ONCE) {
        repeats += fill.insert(from, Math.min(keys.rows, from + AT_ONCE), follows);
        yield;
      }
    },
    result: () => ({ repeats, made: [] }),
  };
}

/** Slots `first` to `end`, and the rows whose home slots they are. */
class Region {
  /** Rows, and their home slots. */
  readonly #rows = new Uint32Array(TOUCHED);
  readonly #homes = new Uint32Array(TOUCHED);

  constructor(
    readonly build: TableKeys,
    readonly keys: Pick<PackedKeys, "exact" | "hashing">,
    readonly slots: Slots,
    readonly first: number,
    readonly end: number,
  ) {}

  insert(from: number, to: number, follows: Uint32Array): number {
    const { codes } = this.build;
    const { exact, hashing } = this.keys;
    const { multiplier, offset } = hashing;
    const mask = exact ? this.slots.mask & hashing.mask : this.slots.mask;
    const [rows, homes] = [this.#rows, this.#homes];
    const { first, end } = this;
    let [count, repeats] = [0, 0];
    for (let row = from; row < to; row++) {
      const code = codes[row];
      const home = (exact ? mixedWord((Math.imul(code, multiplier) + offset) | 0) : code) & mask;
      rows[count] = row;
      homes[count] = home;
      // without a branch that could not be foretold
      count += Number(home >= first) & Number(home < end);
      if (count < TOUCHED) continue;
      repeats += this.#put(count, follows);
      count = 0;
    }
    return repeats + this.#put(count, follows);
  }

  #put(count: number, follows: Uint32Array): number {
    const { codes, skip } = this.build;
    const { exact } = this.keys;
    const { words: slots, reach } = this.slots;
    let [repeats, sum] = [0, 0];
    for (let k = 0; k < count; k++) sum ^= slots[2 * this.#homes[k] + 1];
    this.slots.touched = sum;
    for (let k = 0; k < count; k++) {
      const row = this.#rows[k];
      if (skip !== null && skip[row] !== 0) continue;
      const code = codes[row];
      const home = this.#homes[k];
      const last = Math.min(this.end, home + reach);
      let slot = home;
      let found = slots[2 * slot + 1];
      while (found !== 0) {
        if (slots[2 * slot] === code && (exact || sameKey(this.build, found, this.build, row))) break;
        if (++slot === last) break;
        found = slots[2 * slot + 1];
      }
      if (slot === last) {
        follows[row] = LATE;
      } else if (found === 0) {
        slots[2 * slot] = code;
        slots[2 * slot + 1] = row + 1;
      } else {
        follows[row] = found;
        repeats++;
      }
    }
    return repeats;
  }
}
