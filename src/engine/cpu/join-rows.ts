/**
 * Inner join of row keys on the calling thread. The smaller side is built into a table, the other is looked up in it:
 * pack keys (join-keys.ts), partition when the table would outgrow the cache (join-partition.ts), build and probe
 * (join-table.ts), write the pairs (join-pairs.ts). Candidates are compared by their whole keys; hashes never decide.
 *
 * Between ranges of rows the event loop runs, the signal is looked at and progress is reported.
 */
import type { JoinCall } from "../engine.js";
import { nextTask } from "../next-task.js";
import type { RowKeys, RowPairs } from "../rows.js";
import { type PackedKeys, packKeys, type RangeRunner } from "./join-keys.js";
import { type MatchedRows, writePairs } from "./join-pairs.js";
import { type JoinKeys, partition, unpartitioned } from "./join-partition.js";
import { DenseTable, ExactTable, type KeyTable, keyRange, RowTable } from "./join-table.js";

/** Rows between two looks at the signal: a few milliseconds of work. */
const RANGE_ROWS = 2 ** 20;

/**
 * Build rows above which both sides are partitioned, and rows that a part should have. Tuned on an EPYC 9004 (1 MiB of
 * L2 cache a core), Node 20, by bench/join-cpu.ts.
 */
const PARTITION_ABOVE = 2 ** 17;
const PART_ROWS = 2 ** 13;
/** More parts than this scatter slower than they join faster (same bench). */
const MOST_PARTITION_BITS = 10;

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
  const total = left.rows + right.rows;
  let matched: MatchedRows = {
    leaders: new Uint32Array(0),
    matches: new Uint32Array(0),
    repeats: 0,
    hits: 0,
  };
  if (build.rows > 0) {
    const keys = await packKeys(build, probe, call.nullsEqual, hashMask, rangeRunner(call.signal));
    matched = await match(keys.build, keys.probe, hashMask, rangeRunner(call.signal, call.onProgress, total));
  }
  const pairs = await writePairs(matched, async () => {
    await nextTask();
    call.signal?.throwIfAborted();
  });
  call.onProgress?.(total, total);
  return buildsRight ? { left: pairs.probe, right: pairs.build } : { left: pairs.build, right: pairs.probe };
}

/** Runs over ranges of rows; progress counts the rows of all runs. */
function rangeRunner(signal?: AbortSignal, onProgress?: JoinCall["onProgress"], total = 0): RangeRunner {
  let done = 0;
  let unseen = 0;
  return async (rows, run) => {
    for (let from = 0; from < rows; from += RANGE_ROWS) {
      const to = Math.min(rows, from + RANGE_ROWS);
      run(from, to);
      done += to - from;
      unseen += to - from;
      if (unseen < RANGE_ROWS) continue;
      unseen = 0;
      onProgress?.(Math.min(done, total), total);
      await nextTask();
      signal?.throwIfAborted();
    }
  };
}

/** Finds equal rows: which build rows follow which, and what probe rows match. */
async function match(
  build: PackedKeys,
  probe: PackedKeys,
  hashMask: number,
  overRanges: RangeRunner,
): Promise<MatchedRows> {
  const follows = new Uint32Array(build.rows);
  const matches = new Uint32Array(probe.rows);
  const plan = await choosePlan(build, probe, hashMask, overRanges);
  const counts = { repeats: 0, hits: 0 };
  for (let part = 0; part + 1 < plan.build.parts.length; part++) {
    const [buildFrom, buildTo] = [plan.build.parts[part], plan.build.parts[part + 1]];
    const [probeFrom, probeTo] = [plan.probe.parts[part], plan.probe.parts[part + 1]];
    if (part > 0) plan.table.reset(buildTo - buildFrom);
    await overRanges(buildTo - buildFrom, (from, to) => {
      counts.repeats += plan.table.insert(buildFrom + from, buildFrom + to, follows);
    });
    await overRanges(probeTo - probeFrom, (from, to) => {
      counts.hits += plan.table.probe(plan.probe, probeFrom + from, probeFrom + to, matches);
    });
  }
  return { follows, matches, ...counts };
}

interface Plan {
  readonly build: JoinKeys;
  readonly probe: JoinKeys;
  readonly table: KeyTable;
}

async function choosePlan(
  build: PackedKeys,
  probe: PackedKeys,
  hashMask: number,
  overRanges: RangeRunner,
): Promise<Plan> {
  if (build.exact && hashMask === ALL_BITS) {
    const range = keyRange(build, build.rows * DENSE_ELEMENTS_PER_KEY);
    if (range) {
      const keys = unpartitioned(build);
      return { build: keys, probe: unpartitioned(probe), table: new DenseTable(keys, range) };
    }
  }
  const bits = Math.min(MOST_PARTITION_BITS, Math.ceil(Math.log2(build.rows / PART_ROWS)));
  const parted = build.rows > PARTITION_ABOVE;
  const plan = {
    build: parted ? await partition(build, bits, overRanges) : unpartitioned(build),
    probe: parted ? await partition(probe, bits, overRanges) : unpartitioned(probe),
  };
  const most = mostRows(plan.build.parts);
  const table = build.exact ? new ExactTable(plan.build, most, hashMask) : new RowTable(plan.build, most);
  return { ...plan, table };
}

function mostRows(parts: Uint32Array): number {
  let most = 0;
  for (let k = 0; k + 1 < parts.length; k++) most = Math.max(most, parts[k + 1] - parts[k]);
  return most;
}
