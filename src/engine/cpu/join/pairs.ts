/**
 * From matches to pairs. When all build keys differ, a probe row has one partner at most and the matches are the
 * answer. Otherwise build rows are listed key by key (equal-rows.ts), and each probe row is written once per row with
 * its key: time is proportional to rows and pairs, however skewed the keys are.
 *
 * Threads write slices of the probe rows, each to where its pairs begin when those of the slices before it are counted:
 * pairs come in the order of the probe rows, and those of one row in the order of the build rows.
 */

import { isSet } from "../../../bitmaps.js";
import { LimitError } from "../../../errors.js";
import type { RowMemory } from "../../../host/row-memory.js";
import { silently, type Work } from "../../../host/work.js";
import { MAX_PAIRS } from "../../rows.js";
import type { RowRun } from "../rows/row-run.js";
import type { EqualRows } from "./equal-rows.js";

/**
 * What building and probing found. Of build rows with the same key one, the leader, stands for all. Row numbers are one
 * more than they are, so that 0 says none and memory that nothing was written to is never touched.
 */
export interface MatchedRows {
  /** Per build row: its leader + 1, or 0 for leaders and rows left out. */
  readonly follows: Uint32Array;
  /** Per probe row: the leader with the same key + 1, or 0. Overwritten by `writePairs`. */
  readonly matches: Uint32Array;
  /** Build rows that follow another. */
  readonly repeats: number;
  /** Lists the build rows that have a key together; `follows` may be overwritten then. */
  readonly listEqual: () => EqualRows | Promise<EqualRows>;
  /** By slice of the probe rows: those with a match. */
  readonly hits: Float64Array;
}

/** Row `build[i]` of the build side has the same key as row `probe[i]` of the probe side. */
export interface BuildProbePairs {
  readonly build: Uint32Array;
  readonly probe: Uint32Array;
  /** True when every probe row has one pair. */
  readonly probeInOrder: boolean;
}

/** Count the pairs of each slice; a piece is a slice. */
export interface CountJob {
  readonly kind: "count";
  readonly equal: EqualRows;
  readonly matches: Uint32Array;
  readonly sliceRows: number;
  readonly counts: Float64Array;
}

/** Write the pairs; a piece is a slice. */
export interface PairsJob {
  readonly kind: "pairs";
  /** Null when all build keys differ. */
  readonly equal: EqualRows | null;
  readonly matches: Uint32Array;
  readonly sliceRows: number;
  /** By slice: where its pairs begin. */
  readonly starts: Float64Array;
  /** May be `matches` when every row has one pair. */
  readonly build: Uint32Array;
  readonly probe: Uint32Array;
}

/** Probe rows whose pairs one thread counts or writes at once when they may be many. */
const GROUPED_SLICE_ROWS = 2 ** 12;

const FEWER_PAIRS = "Join on more columns, or join fewer rows at a time.";

/**
 * Writes the pairs in the order of the probe rows.
 * @param memory of the pairs
 * @param rows of both sides: what threads are asked for
 * @throws LimitError for more than `mostPairs` pairs, or more than memory holds
 */
export async function writePairs(
  matched: MatchedRows,
  memory: RowMemory,
  run: RowRun,
  rows: number,
  mostPairs = MAX_PAIRS,
): Promise<BuildProbePairs> {
  const { matches } = matched;
  const { work } = run;
  let sliceRows = run.threads.tuning.slice;
  let counts = matched.hits;
  let equal: EqualRows | null = null;
  if (matched.repeats > 0) {
    sliceRows = Math.min(sliceRows, GROUPED_SLICE_ROWS);
    counts = work.numbers(Math.ceil(matches.length / sliceRows));
    equal = await matched.listEqual();
    await run.share({ kind: "count", equal, matches, sliceRows, counts }, rows);
  }
  const starts = work.numbers(counts.length);
  let total = 0;
  for (const [slice, count] of counts.entries()) {
    starts[slice] = total;
    total += count;
  }
  if (total > mostPairs) {
    throw new LimitError("rows", total, mostPairs, FEWER_PAIRS);
  }
  const probeInOrder = equal === null && total === matches.length;
  const build = probeInOrder ? matches : memory.words(total, FEWER_PAIRS);
  const probe = memory.words(total, FEWER_PAIRS);
  await run.share({ kind: "pairs", equal, matches, sliceRows, starts, build, probe }, rows);
  return { build, probe, probeInOrder };
}

export function openCount({ equal, matches, sliceRows, counts }: CountJob): Work {
  return silently(counts.length, (slice) => {
    const from = slice * sliceRows;
    counts[slice] = countPairs(equal, matches, from, Math.min(matches.length, from + sliceRows));
  });
}

export function openPairs({ equal, matches, sliceRows, starts, build, probe }: PairsJob): Work {
  return silently(starts.length, (slice) => {
    const from = slice * sliceRows;
    const to = Math.min(matches.length, from + sliceRows);
    if (equal === null) writeSingle(matches, from, to, starts[slice], build, probe);
    else writeGrouped(equal, matches, from, to, starts[slice], build, probe);
  });
}

function writeSingle(
  matches: Uint32Array,
  from: number,
  to: number,
  start: number,
  build: Uint32Array,
  probe: Uint32Array,
): void {
  for (let row = from, at = start; row < to; row++) {
    const match = matches[row];
    if (match === 0) continue;
    probe[at] = row;
    build[at++] = match - 1;
  }
}

function countPairs(
  { shared, firstOf, lists }: EqualRows,
  matches: Uint32Array,
  from: number,
  to: number,
): number {
  let total = 0;
  for (let row = from; row < to; row++) {
    if (matches[row] === 0) continue;
    const leader = matches[row] - 1;
    if (isSet(shared, leader)) total += lists[firstOf[leader]];
    else total++;
  }
  return total;
}

function writeGrouped(
  { shared, firstOf, lists }: EqualRows,
  matches: Uint32Array,
  from: number,
  to: number,
  start: number,
  build: Uint32Array,
  probe: Uint32Array,
): void {
  let at = start;
  for (let row = from; row < to; row++) {
    if (matches[row] === 0) continue;
    const leader = matches[row] - 1;
    if (!isSet(shared, leader)) {
      probe[at] = row;
      build[at++] = leader;
      continue;
    }
    const first = firstOf[leader];
    for (let member = first + 1; member <= first + lists[first]; member++) {
      probe[at] = row;
      build[at++] = lists[member];
    }
  }
}
