/**
 * From leaders to groups: equal rows get one number, numbers get counts, counts get offsets, and a counting sort lists
 * the rows of each number. Numbers are written over what says who follows whom.
 *
 * Everything goes through the rows in order, and a leader comes before its followers: numbers are in the order in which
 * groups are first seen, and the rows of a group ascend.
 */

import { isSet } from "../../../bitmaps.js";
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
 * @param numbers per row: its group's number, or NO_GROUP
 * @param next per group: where its next row goes
 */
export function listMembers(
  numbers: Uint32Array,
  next: Uint32Array,
  members: Uint32Array,
  from: number,
  to: number,
): void {
  for (let row = from; row < to; row++) {
    const group = numbers[row];
    if (group !== NO_GROUP) members[next[group]++] = row;
  }
}
