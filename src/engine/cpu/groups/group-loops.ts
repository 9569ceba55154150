/**
 * The loops of a table of groups (group-table.ts), which take its arrays and numbers alone: a collection of garbage drops
 * compiled code that knows of objects none of which lives, as tables after a call.
 */
import { mixedWord } from "./row-keys.js";

/** Words of a table's head: its groups, and the key at which its array of near keys begins. */
export const GROUPS = 0;
export const NEAR_FROM = 1;

/** Makes a group at an empty slot. Returns its number + 1; 0 where there is no room. */
export function addGroup(
  slot: number,
  code: number,
  row: number,
  slots: Uint32Array,
  head: Uint32Array,
  codes: Uint32Array,
  firsts: Uint32Array,
): number {
  const group = head[GROUPS];
  if (group === firsts.length) return 0;
  head[GROUPS] = group + 1;
  codes[group] = code;
  firsts[group] = row;
  slots[slot] = code;
  slots[slot + 1] = group + 1;
  return group + 1;
}

/** The group + 1 of a key of one word; 0 where there is no room for it. */
function findFar(
  code: number,
  hash: number,
  isNew: boolean,
  slots: Uint32Array,
  head: Uint32Array,
  codes: Uint32Array,
  firsts: Uint32Array,
  row: number,
): number {
  const wrap = slots.length - 1;
  let slot = (hash << 1) & wrap & ~1;
  while (slots[slot + 1] !== 0) {
    if (!isNew && slots[slot] === code) return slots[slot + 1];
    slot = (slot + 2) & wrap;
  }
  return addGroup(slot, code, row, slots, head, codes, firsts);
}

/** Finds the keys from position `at` on, of which all are near. There is room for all. */
export function findInRange(
  codes: Uint32Array,
  from: number,
  at: number,
  to: number,
  near: Uint32Array,
  head: Uint32Array,
  own: Uint32Array,
  firsts: Uint32Array,
  firstRow: number,
  ids: Uint32Array,
): void {
  const least = head[NEAR_FROM];
  let groups = head[GROUPS];
  for (let position = at; position < to; position++) {
    const code = codes[position];
    const index = (code - least) >>> 0;
    let found = near[index];
    if (found === 0) {
      own[groups] = code;
      firsts[groups] = firstRow + position;
      near[index] = found = ++groups;
    }
    ids[position - from] = found - 1;
  }
  head[GROUPS] = groups;
}

/** Finds records of a hash and a row; answers how many. */
export function findHashes(
  records: Uint32Array,
  stride: number,
  from: number,
  to: number,
  slots: Uint32Array,
  mask: number,
  head: Uint32Array,
  codes: Uint32Array,
  firsts: Uint32Array,
  ids: Uint32Array,
): number {
  const all = to - from; // ahead of the loop: code that is optimised in it knows no more than what has run
  const wrap = slots.length - 1;
  for (let position = from; position < to; position++) {
    const code = records[position * stride];
    let slot = ((code & mask) << 1) & wrap & ~1;
    let found = slots[slot + 1];
    while (found !== 0 && slots[slot] !== code) {
      slot = (slot + 2) & wrap;
      found = slots[slot + 1];
    }
    if (found === 0) {
      found = addGroup(slot, code, records[position * stride + 1], slots, head, codes, firsts);
      if (found === 0) return position - from;
    }
    ids[position - from] = found - 1;
  }
  return all;
}

/** Finds near keys up to the first that is not there, whose position it answers. */
function findNear(
  codes: Uint32Array,
  from: number,
  to: number,
  near: Uint32Array,
  least: number,
  ids: Uint32Array,
  first: number,
): number {
  const last = near.length - 1;
  let position = from;
  // four keys a turn: V8 looks at each array's kind, place and length once a turn
  for (let id = from - first; position + 3 < to; position += 4, id += 4) {
    const a = (codes[position] - least) | 0;
    const b = (codes[position + 1] - least) | 0;
    const c = (codes[position + 2] - least) | 0;
    const d = (codes[position + 3] - least) | 0;
    if ((a | b | c | d) >>> 0 > last) break;
    const groupA = near[a & last];
    const groupB = near[b & last];
    const groupC = near[c & last];
    const groupD = near[d & last];
    if (groupA === 0 || groupB === 0 || groupC === 0 || groupD === 0) break;
    ids[id] = groupA - 1;
    ids[id + 1] = groupB - 1;
    ids[id + 2] = groupC - 1;
    ids[id + 3] = groupD - 1;
  }
  for (; position < to; position++) {
    const index = (codes[position] - least) >>> 0;
    if (index >= near.length) break;
    const found = near[index];
    if (found === 0) break;
    ids[position - first] = found - 1;
  }
  return position;
}

/** Finds the keys from position `at` on, near and far; answers how many from `from` on are done. */
export function findWords(
  codes: Uint32Array,
  from: number,
  at: number,
  to: number,
  near: Uint32Array,
  least: number,
  multiplier: number,
  offset: number,
  mask: number,
  slots: Uint32Array,
  head: Uint32Array,
  own: Uint32Array,
  firsts: Uint32Array,
  firstRow: number,
  ids: Uint32Array,
): number {
  const all = to - from; // ahead of the loop: code that is optimised in it knows no more than what has run
  for (let position = at; position < to; position++) {
    position = findNear(codes, position, to, near, least, ids, from);
    if (position === to) break;
    const code = codes[position];
    const index = (code - least) >>> 0;
    const isNew = index < near.length;
    const hash = mixedWord((Math.imul(code, multiplier) + offset) | 0) & mask;
    const found = findFar(code, hash, isNew, slots, head, own, firsts, firstRow + position);
    if (found === 0) return position - from;
    if (isNew) near[index] = found;
    ids[position - from] = found - 1;
  }
  return all;
}

/** The least key: signed, where some are below 0. */
export function leastOf(codes: Uint32Array, from: number, to: number): number {
  let least = 2 ** 31;
  for (let position = from; position < to; position++) least = Math.min(least, codes[position] | 0);
  return least >>> 0;
}
