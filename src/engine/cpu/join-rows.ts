/**
 * Inner join of row keys on the calling thread. The smaller side is built into a table, the other is looked up in it:
 * pack keys (join-keys.ts), partition when the table would outgrow the cache (join-partition.ts), build and probe
 * (join-table.ts), write the pairs (join-pairs.ts). Candidates are compared by their whole keys; hashes never decide.
 *
 * Between ranges of rows the event loop runs, the signal is looked at and progress is reported.
 */
import { nextTask } from "../next-task.js";
import type { JoinCall } from "../row-join.js";
import type { RowKeys, RowPairs } from "../rows.js";
import { type KeyRows, keySide, type PackedKeys, packKeys, type RangeRunner } from "./join-keys.js";
import { chooseLayout } from "./join-layout.js";
import { type MatchedRows, writePairs } from "./join-pairs.js";
import { type JoinKeys, partition, recordWords, unpartitioned } from "./join-partition.js";
import { allocateWords, Scratch } from "./join-scratch.js";
import { DenseTable, ExactTable, type KeyTable, keyRange, RowTable } from "./join-table.js";

/** Rows between two looks at the signal: a few milliseconds of work. */
const RANGE_ROWS = 2 ** 20;

/**
 * When both sides are partitioned: above so many build rows; and into parts of so many build rows and bytes of records.
 * Tuned on an EPYC 9004 (1 MiB of L2 cache a core), Node 20, with 2^20 and 2^22 rows on both sides.
 */
const PARTITION_ABOVE_ROWS = 2 ** 17;
const PART_ROWS = 2 ** 13;
const PART_BYTES = 2 ** 18;
/** More parts than this scatter slower than they join faster (same measurements). */
const MOST_PARTITION_BITS = 10;

/**
 * Rows of the probe side that are packed at once; with partitions, at least so many and PROBE_PER_BUILD times the build
 * side, because every part's table is built again for each.
 */
const PROBE_ROWS = 2 ** 20;
const PROBE_PER_BUILD = 4;

/** Array elements per build key up to which keys index an array instead of being hashed. As much memory as slots take. */
const DENSE_ELEMENTS_PER_KEY = 4;

const ALL_BITS = 0xffffffff;

/**
 * Pairs of rows with equal keys, in the order of the larger side.
 * @param hashMask for tests: hashes are and-ed with it, so few bits make keys collide
 * @throws LimitError when there are more than MAX_PAIRS pairs, or no memory for them
 */
export async function joinRows(
  left: RowKeys,
  right: RowKeys,
  call: JoinCall,
  hashMask = ALL_BITS,
): Promise<RowPairs> {
  call.signal?.throwIfAborted();
  const buildsRight = right.rows <= left.rows;
  const [build, probe] = buildsRight ? [right, left] : [left, right];
  const pace = new Pace(call, left.rows + right.rows);
  const matched = await matchRows(build, probe, call.nullsEqual, hashMask, pace);
  const pairs = await writePairs(matched, () => pace.pause());
  pace.finish();
  return buildsRight ? { left: pairs.probe, right: pairs.build } : { left: pairs.build, right: pairs.probe };
}

/** Lets other work run between ranges of rows, looks at the signal, and reports rows done. */
class Pace {
  readonly #call: JoinCall;
  readonly #total: number;
  #done = 0;
  #sincePause = 0;

  constructor(call: JoinCall, total: number) {
    this.#call = call;
    this.#total = total;
  }

  readonly overRanges: RangeRunner = async (rows, run) => {
    for (let from = 0; from < rows; from += RANGE_ROWS) {
      const to = Math.min(rows, from + RANGE_ROWS);
      run(from, to);
      this.#sincePause += to - from;
      if (this.#sincePause >= RANGE_ROWS) await this.pause();
    }
  };

  /** Counts rows as done. */
  add(rows: number): void {
    this.#done += rows;
  }

  async pause(): Promise<void> {
    this.#sincePause = 0;
    this.#call.onProgress?.(this.#done, this.#total);
    await nextTask();
    this.#call.signal?.throwIfAborted();
  }

  finish(): void {
    this.#call.onProgress?.(this.#total, this.#total);
  }
}

/** Finds equal rows: which build rows follow which, and what probe rows match. */
async function matchRows(
  build: RowKeys,
  probe: RowKeys,
  nullsEqual: boolean,
  hashMask: number,
  pace: Pace,
): Promise<MatchedRows> {
  const found = {
    follows: allocateWords(build.rows),
    matches: allocateWords(probe.rows),
    repeats: 0,
    hits: 0,
  };
  if (build.rows === 0) return found;
  const layout = chooseLayout(build, probe, nullsEqual);
  const scratch = new Scratch();
  const all = { side: keySide(build, layout), first: 0, rows: build.rows };
  const packed = await packKeys(all, layout, hashMask, scratch, pace.overRanges);
  const plan = await choosePlan(packed, hashMask, pace);
  // packed build keys are in use until they were moved into parts
  const probeScratch = plan.bits > 0 ? scratch : new Scratch();
  const side = keySide(probe, layout);
  for (let first = 0; first < probe.rows; first += plan.probeRows) {
    const some = { side, first, rows: Math.min(plan.probeRows, probe.rows - first) };
    const keys = await packKeys(some, layout, hashMask, probeScratch, pace.overRanges);
    await matchParts(plan, await inParts(keys, plan.bits, probeScratch, pace), some, found, pace);
  }
  return found;
}

/** Builds (or for later rows of the probe side, builds again) each part's table, and looks the part's probe keys up. */
async function matchParts(
  { build, table, bits }: Plan,
  probe: JoinKeys,
  { first, rows }: KeyRows,
  found: { -readonly [K in keyof MatchedRows]: MatchedRows[K] },
  pace: Pace,
): Promise<void> {
  const matches = found.matches.subarray(first, first + rows);
  for (let part = 0; part + 1 < probe.parts.length; part++) {
    const [buildFrom, buildTo] = [build.parts[part], build.parts[part + 1]];
    if (first === 0 || bits > 0) {
      const used = part > 0 || first > 0;
      if (used) table.reset(buildTo - buildFrom);
      await pace.overRanges(buildTo - buildFrom, (from, to) => {
        const repeats = table.insert(buildFrom + from, buildFrom + to, found.follows);
        if (first === 0) found.repeats += repeats;
      });
    }
    const [probeFrom, probeTo] = [probe.parts[part], probe.parts[part + 1]];
    pace.add(probeTo - probeFrom + (first === 0 ? buildTo - buildFrom : 0));
    await pace.overRanges(probeTo - probeFrom, (from, to) => {
      found.hits += table.probe(probe, probeFrom + from, probeFrom + to, matches);
    });
  }
}

interface Plan {
  readonly build: JoinKeys;
  readonly table: KeyTable;
  /** log2 of the number of parts. */
  readonly bits: number;
  /** Rows of the probe side to pack at once. */
  readonly probeRows: number;
}

async function choosePlan(packed: PackedKeys, hashMask: number, pace: Pace): Promise<Plan> {
  if (packed.exact && hashMask === ALL_BITS) {
    const range = keyRange(packed, packed.rows * DENSE_ELEMENTS_PER_KEY);
    const build = unpartitioned(packed);
    if (range) return { build, table: new DenseTable(build, range), bits: 0, probeRows: PROBE_ROWS };
  }
  const bits = partitionBits(packed);
  const build = await inParts(packed, bits, new Scratch(), pace);
  const most = mostRows(build.parts);
  const table = packed.exact ? new ExactTable(build, most, hashMask) : new RowTable(build, most);
  const probeRows = bits > 0 ? Math.max(PROBE_ROWS, PROBE_PER_BUILD * packed.rows) : PROBE_ROWS;
  return { build, table, bits, probeRows };
}

function inParts(keys: PackedKeys, bits: number, scratch: Scratch, pace: Pace): Promise<JoinKeys> | JoinKeys {
  return bits > 0 ? partition(keys, bits, scratch, pace.overRanges) : unpartitioned(keys);
}

function partitionBits(build: PackedKeys): number {
  if (build.rows <= PARTITION_ABOVE_ROWS) return 0;
  const partRows = Math.min(PART_ROWS, PART_BYTES / (4 * recordWords(build)));
  return Math.min(MOST_PARTITION_BITS, Math.ceil(Math.log2(build.rows / partRows)));
}

function mostRows(parts: Uint32Array): number {
  let most = 0;
  for (let k = 0; k + 1 < parts.length; k++) most = Math.max(most, parts[k + 1] - parts[k]);
  return most;
}
