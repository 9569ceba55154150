/**
 * From matches to pairs. When all build keys differ, a probe row has one partner at most and the matches are the answer.
 * Otherwise build rows are listed leader by leader (counting sort), and each probe row is written once per row in the list
 * of its leader: time is proportional to rows and pairs, however skewed the keys are.
 */
import { LimitError } from "../../errors.js";
import { MAX_PAIRS } from "../rows.js";

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
  /** Probe rows with a match. */
  readonly hits: number;
}

/** Row `build[i]` of the build side has the same key as row `probe[i]` of the probe side. */
export interface BuildProbePairs {
  readonly build: Uint32Array;
  readonly probe: Uint32Array;
}

/** Pairs written between two pauses: some milliseconds of work. */
const PAUSE_PAIRS = 2 ** 22;

/**
 * Writes the pairs in the order of the probe rows.
 * @param pause lets the event loop run, and throws to stop
 * @throws LimitError for more than MAX_PAIRS pairs, or more than memory holds
 */
export async function writePairs(matched: MatchedRows, pause: () => Promise<void>): Promise<BuildProbePairs> {
  if (matched.repeats === 0) return writeSingle(matched);
  const groups = groupByLeader(matched.follows);
  const total = countPairs(groups, matched.matches);
  if (total > MAX_PAIRS) {
    throw new LimitError(
      "rows",
      total,
      MAX_PAIRS,
      "Join on more columns, or join part of the table at a time.",
    );
  }
  const pairs = allocatePairs(total);
  let written = { row: 0, pairs: 0 };
  while (written.pairs < total) {
    written = writeSome(groups, matched.matches, pairs, written);
    await pause();
  }
  return pairs;
}

function allocatePairs(count: number): BuildProbePairs {
  try {
    return { build: new Uint32Array(count), probe: new Uint32Array(count) };
  } catch (cause) {
    const fix = "Join part of the table at a time.";
    throw new LimitError("memory", 8 * count, Number.NaN, fix, { cause });
  }
}

/** At most one match a row: `matches` is the answer when all rows have one, else those that do are kept. */
function writeSingle({ matches, hits }: MatchedRows): BuildProbePairs {
  if (hits === matches.length) {
    const probe = new Uint32Array(hits);
    for (let row = 0; row < hits; row++) {
      probe[row] = row;
      matches[row]--;
    }
    return { build: matches, probe };
  }
  const pairs = allocatePairs(hits);
  const { build, probe } = pairs;
  for (let row = 0, at = 0; row < matches.length; row++) {
    const match = matches[row];
    if (match === 0) continue;
    probe[at] = row;
    build[at++] = match - 1;
  }
  return pairs;
}

/**
 * Build rows with the same key as another one, leader by leader: those of leader r are rows[starts[r]] to
 * rows[starts[r + 1]], r itself among them. A leader alone with its key is in no list and has no bit in `shared`: a bitmap
 * stays in the cache where `starts` does not, and most keys of most joins are alone.
 */
interface Groups {
  readonly shared: Uint8Array;
  readonly starts: Uint32Array;
  readonly rows: Uint32Array;
}

function groupByLeader(follows: Uint32Array): Groups {
  const shared = new Uint8Array((follows.length >>> 3) + 1);
  for (let row = 0; row < follows.length; row++) {
    const leader = follows[row] - 1;
    if (leader >= 0) shared[leader >>> 3] |= 1 << (leader & 7);
  }
  const starts = new Uint32Array(follows.length + 1);
  for (let row = 0; row < follows.length; row++) {
    if (follows[row] !== 0) starts[follows[row]]++;
    else if (isSet(shared, row)) starts[row + 1]++;
  }
  for (let row = 0; row < follows.length; row++) starts[row + 1] += starts[row];
  const rows = new Uint32Array(starts[follows.length]);
  const next = starts.slice(0, -1);
  for (let row = 0; row < follows.length; row++) {
    if (follows[row] !== 0) rows[next[follows[row] - 1]++] = row;
    else if (isSet(shared, row)) rows[next[row]++] = row;
  }
  return { shared, starts, rows };
}

function isSet(bits: Uint8Array, index: number): boolean {
  return ((bits[index >>> 3] >>> (index & 7)) & 1) === 1;
}

function countPairs({ shared, starts }: Groups, matches: Uint32Array): number {
  let total = 0;
  for (let row = 0; row < matches.length; row++) {
    if (matches[row] === 0) continue;
    const leader = matches[row] - 1;
    total += isSet(shared, leader) ? starts[leader + 1] - starts[leader] : 1;
  }
  return total;
}

/** Writes whole probe rows from `start` on, until PAUSE_PAIRS pairs or more are written. */
function writeSome(
  groups: Groups,
  matches: Uint32Array,
  pairs: BuildProbePairs,
  start: { row: number; pairs: number },
) {
  const { shared, starts, rows } = groups;
  const { build, probe } = pairs;
  let { row, pairs: at } = start;
  const enough = at + PAUSE_PAIRS;
  for (; row < matches.length && at < enough; row++) {
    if (matches[row] === 0) continue;
    const leader = matches[row] - 1;
    if (!isSet(shared, leader)) {
      probe[at] = row;
      build[at++] = leader;
      continue;
    }
    for (let member = starts[leader]; member < starts[leader + 1]; member++) {
      probe[at] = row;
      build[at++] = rows[member];
    }
  }
  return { row, pairs: at };
}
