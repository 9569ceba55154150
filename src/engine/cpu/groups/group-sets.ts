/**
 * Sets of groups with their sums, one for each thread that groups slices of rows, and how two become one. Threads that
 * are done leave their sets to each other: with 16 of them the last one has all groups after four steps, while the
 * calling thread alone would take fifteen.
 */
import type { LaneSums } from "../../../host/lanes.js";
import {
  type GroupKeys,
  type GroupMemory,
  type GroupTable,
  groupMemory,
  groupWords,
  keysOf,
} from "./group-table.js";

/** Groups of some of the rows, and their sums. */
export interface GroupSet {
  readonly memory: GroupMemory;
  readonly sums: Float64Array;
  /** Whether a thread has it; whether one had it, and has cleared it; rows since the last carry. */
  readonly state: Int32Array;
}

/** A set for each thread, in one piece of memory of which only the states are zeroed. */
export interface GroupSets {
  readonly memory: Uint32Array;
  readonly count: number;
  /** Groups that each has room for. */
  readonly groups: number;
}

const IN_USE = 0;
export const IS_CLEAR = 1;
export const SINCE_CARRY = 2;
const STATE_WORDS = 4;

/** Words of the memory for sets. */
export function setWords(count: number, groups: number, form: GroupKeys, stride: number): number {
  const words = STATE_WORDS + 2 * groups * stride + groupWords(form, groups);
  return count * (words + (words & 1));
}

/** One of some sets. @param stride numbers a group */
export function groupSet(sets: GroupSets, form: GroupKeys, stride: number, set: number): GroupSet {
  const words = sets.memory.length / sets.count;
  const own = sets.memory.subarray(words * set + STATE_WORDS, words * (set + 1));
  return { ...groupsIn(own, sets.groups, form, stride), state: stateOf(sets, set) };
}

/** So many groups in some words. */
export function groupsIn(own: Uint32Array, groups: number, form: GroupKeys, stride: number) {
  let at = 2 * groups * stride;
  const words = (length: number) => {
    at += length;
    return own.subarray(at - length, at);
  };
  const sums = new Float64Array(own.buffer, own.byteOffset, groups * stride);
  return { memory: groupMemory(form, groups, words), sums };
}

function stateOf({ memory, count }: GroupSets, set: number): Int32Array {
  return new Int32Array(memory.buffer, 4 * (memory.length / count) * set, STATE_WORDS);
}

/** Makes all sets free; clears them besides, each when a thread takes it. */
export function freeSets(sets: GroupSets, clear: boolean): void {
  for (let set = 0; set < sets.count; set++)
    stateOf(sets, set).fill(0, IN_USE, clear ? STATE_WORDS : IS_CLEAR);
}

/** Takes a free set. */
export function takeSet(sets: GroupSets): number {
  for (let set = 0; set < sets.count; set++)
    if (Atomics.compareExchange(stateOf(sets, set), IN_USE, 0, 1) === 0) return set;
  throw new Error("warpmap: more threads than sets of groups");
}

/** Whether a set has groups. */
export function wasTaken({ state }: GroupSet): boolean {
  return state[IS_CLEAR] !== 0;
}

/** Groups and their sums, which have been carried. */
export interface SummedSet {
  readonly table: GroupTable;
  readonly sums: Float64Array;
}

/**
 * Adds all groups of one set to another, unless that has no room for them: then it may have some of them without sums.
 * @param ids are used for groups as many as there are at once; of the last of them it has the numbers in `to`
 * @returns whether there was room
 */
export function addGroups(to: SummedSet, from: SummedSet, lanes: LaneSums, ids: Uint32Array): boolean {
  const { groups } = from.table;
  const keys = keysOf(from.table);
  const { firsts } = from.table.memory;
  const numbered = (first: number, count: number) => {
    const known = to.table.groups;
    const found = to.table.find(keys, first, first + count, 0, ids);
    lowerFirsts(to.table.memory.firsts, ids, known, firsts.subarray(first, first + found));
    return found === count;
  };
  const blocks = function* () {
    for (let at = 0; at < groups; at += ids.length) yield [at, Math.min(ids.length, groups - at)] as const;
  };
  for (const [first, count] of blocks()) if (!numbered(first, count)) return false;
  for (const [first, count] of blocks()) {
    if (count < groups) numbered(first, count);
    lanes.merge(from.sums.subarray(first * lanes.stride), ids.subarray(0, count), to.sums);
  }
  return true;
}

/** Lowers the first rows of groups to those of a set; the groups from `known` on are new. */
function lowerFirsts(firsts: Uint32Array, ids: Uint32Array, known: number, own: Uint32Array): void {
  for (let group = 0; group < own.length; group++) {
    const id = ids[group];
    if (id >= known || own[group] < firsts[id]) firsts[id] = own[group];
  }
}

/** Adds the sets that other threads have left to a thread's own, and leaves that to the next one. */
export function leaveSet(
  left: Int32Array,
  number: number,
  takeOver: (set: number) => void,
  store: () => void,
): void {
  do {
    for (let set = Atomics.exchange(left, 0, 0); set > 0; set = Atomics.exchange(left, 0, 0))
      takeOver(set - 1);
    store();
  } while (Atomics.compareExchange(left, 0, 0, number + 1) !== 0);
}
