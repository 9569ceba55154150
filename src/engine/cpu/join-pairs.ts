/**
 * From matches to pairs. When all build keys differ, a probe row has one partner at most and the matches are the answer.
 * Otherwise build rows are listed leader by leader (counting sort), and each probe row is written once per row in the list
 * of its leader: time is proportional to rows and pairs, however skewed the keys are.
 */
import { LimitError } from "../../errors.js";
import { MAX_PAIRS } from "../rows.js";
import { allocateWords } from "./join-scratch.js";

/**
 * What building and probing found. Of build rows with the same key one, the leader, stands for all. Row numbers are one
 * more than they are, so that 0 says none and memory that nothing was written to is never touched.
 */
export interface MatchedRows {
  /** Per build row: its leader + 1, or 0 for leaders and rows left out. Overwritten by `writePairs`. */
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
  const groups = groupByLeader(matched.follows, matched.repeats);
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
  return { build: allocateWords(count), probe: allocateWords(count) };
}

/** At most one match a row: `matches` is the answer when all rows have one, else those that do are kept. */
function writeSingle({ matches, hits }: MatchedRows): BuildProbePairs {
  if (hits === matches.length) {
    const probe = allocateWords(hits);
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
 * Build rows that share their key with others, group by group: group g is rows[starts[g]] to rows[starts[g + 1]], and
 * groupOf[leader] is its number. Leaders alone with their key are in no group and have no bit in `shared`; that bitmap
 * stays in the cache where an array over all rows does not, and most keys of most joins are alone.
 */
interface Groups {
  readonly shared: Uint8Array;
  readonly groupOf: Uint32Array;
  readonly starts: Uint32Array;
  readonly rows: Uint32Array;
}

/** Tells a leader's group number in `follows` from a follower's leader: row numbers have 31 bits. */
const LEADER = 0x80000000;

/** Counting sort of the followers by group. Leaves in `follows` the group number of each leader that has followers. */
function groupByLeader(follows: Uint32Array, repeats: number): Groups {
  const shared = new Uint8Array((follows.length >>> 3) + 1);
  const sizes = new Uint32Array(repeats);
  let groups = 0;
  for (let row = 0; row < follows.length; row++) {
    // a leader comes before its followers
    if (follows[row] === 0 || follows[row] >= LEADER) continue;
    const leader = follows[row] - 1;
    if (follows[leader] === 0) {
      shared[leader >>> 3] |= 1 << (leader & 7);
      follows[leader] = LEADER + groups;
      sizes[groups++] = 1;
    }
    sizes[follows[leader] - LEADER]++;
  }
  const starts = new Uint32Array(groups + 1);
  for (let group = 0; group < groups; group++) starts[group + 1] = starts[group] + sizes[group];
  const rows = new Uint32Array(starts[groups]);
  const next = starts.slice(0, -1);
  for (let row = 0; row < follows.length; row++) {
    if (follows[row] === 0) continue;
    const group = follows[row] >= LEADER ? follows[row] - LEADER : follows[follows[row] - 1] - LEADER;
    rows[next[group]++] = row;
  }
  for (let row = 0; row < follows.length; row++) if (follows[row] >= LEADER) follows[row] -= LEADER;
  return { shared, groupOf: follows, starts, rows };
}

function isSet(bits: Uint8Array, index: number): boolean {
  return ((bits[index >>> 3] >>> (index & 7)) & 1) === 1;
}

function countPairs({ shared, groupOf, starts }: Groups, matches: Uint32Array): number {
  let total = 0;
  for (let row = 0; row < matches.length; row++) {
    if (matches[row] === 0) continue;
    const leader = matches[row] - 1;
    if (isSet(shared, leader)) total += starts[groupOf[leader] + 1] - starts[groupOf[leader]];
    else total++;
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
  const { shared, groupOf, starts, rows } = groups;
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
    const group = groupOf[leader];
    for (let member = starts[group]; member < starts[group + 1]; member++) {
      probe[at] = row;
      build[at++] = rows[member];
    }
  }
  return { row, pairs: at };
}
