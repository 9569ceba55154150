/**
 * From leaders to groups: equal rows get one number, numbers get counts, counts get offsets, and a counting sort lists the
 * rows of each number. Numbers are written over what says who follows whom.
 *
 * Everything goes through the rows in order, and a leader comes before its followers: numbers are in the order in which
 * groups are first seen, and the rows of a group ascend.
 */

import { isSet } from "../../../bitmaps.js";
import type { RowMemory } from "../../../host/row-memory.js";
import { NO_GROUP } from "../../row-groups.js";

/**
 * Numbers the groups of rows `from` to `to`, after those of the rows before.
 * @param follows per row: its leader + 1, or 0; then its group's number, or NO_GROUP
 * @param included bitmap of the rows that are in groups; null for all
 * @param counts per group: its rows so far
 * @param groups numbered before
 * @returns groups numbered
 */
export function numberGroups(
  follows: Uint32Array,
  included: Uint8Array | null,
  counts: Uint32Array,
  from: number,
  to: number,
  groups: number,
): number {
  let numbered = groups;
  for (let row = from; row < to; row++) {
    if (included !== null && !isSet(included, row)) {
      follows[row] = NO_GROUP;
      continue;
    }
    const leader = follows[row];
    const group = leader === 0 ? numbered++ : follows[leader - 1];
    follows[row] = group;
    counts[group]++;
  }
  return numbered;
}

/** Writes where each group begins, and where the last one ends. */
export function sumCounts(counts: Uint32Array, offsets: Uint32Array): void {
  let total = 0;
  for (let group = 0; group < counts.length; group++) {
    offsets[group] = total;
    total += counts[group];
  }
  offsets[counts.length] = total;
}

/**
 * Lists the rows `from` to `to` of each group.
 * @param numbers per row: its group's number + `first`
 * @param next per group: where its next row goes
 */
export function listMembers(
  numbers: Uint32Array,
  first: 0 | 1,
  next: Uint32Array,
  members: Uint32Array,
  from: number,
  to: number,
): void {
  for (let row = from; row < to; row++) {
    // 0 - 1, like NO_GROUP, is no group
    const group = (numbers[row] - first) >>> 0;
    if (group !== NO_GROUP) members[next[group]++] = row;
  }
}

/**
 * Rows that share their key with others, group by group: the rows of the group numbered g, from 1 on, are
 * rows[starts[g - 1]] to rows[starts[g]], and groupOf[leader] is its number. Leaders alone with their key are in no group and
 * have no bit in `shared`; that bitmap stays in the cache where an array over all rows does not, and most keys of most joins
 * are alone.
 */
export interface SharedGroups {
  readonly shared: Uint8Array;
  readonly groupOf: Uint32Array;
  readonly starts: Uint32Array;
  readonly rows: Uint32Array;
}

/**
 * The groups of two rows and more, which is what a join asks of its build side.
 * @param follows overwritten
 * @param repeats rows that follow another
 */
export function groupShared(follows: Uint32Array, repeats: number, memory: RowMemory): SharedGroups {
  const shared = memory.bytes((follows.length >>> 3) + 1);
  const counts = new Uint32Array(repeats);
  let groups = 0;
  for (let row = 0; row < follows.length; row++) {
    if (follows[row] === 0) continue;
    const leader = follows[row] - 1;
    if (follows[leader] === 0) {
      shared[leader >>> 3] |= 1 << (leader & 7);
      counts[groups] = 1;
      follows[leader] = ++groups;
    }
    const group = follows[leader];
    follows[row] = group;
    counts[group - 1]++;
  }
  const starts = memory.words(groups + 1);
  sumCounts(counts.subarray(0, groups), starts);
  const rows = memory.words(starts[groups]);
  listMembers(follows, 1, starts.slice(0, -1), rows, 0, follows.length);
  return { shared, groupOf: follows, starts, rows };
}
