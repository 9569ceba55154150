/**
 * The hash table of a dictionary, and the loops over it: hash a block of strings, look them up, put new ones in. Two words a slot, the
 * hash of a string and its number plus one, 0 for none; slots are a power of two, at most half of them taken, probed one after another.
 * Strings never leave, so there are no tombstones. A record of the arena is a string's length and its bytes, filled up with zeros.
 */

import { xxh32Of } from "../../../xxh32.js";
import type { DictionarySpec } from "../../dictionary.js";
import { murmur3Bytes, tailWord } from "../../hash-bytes.js";

/** Memory that strings are looked up in. Can be posted to workers. */
export interface StringTable {
  readonly slots: Uint32Array;
  readonly arena: Uint32Array;
  readonly spec: DictionarySpec;
}

/** The strings of a batch. */
export interface Strings {
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
  /** The same bytes. */
  readonly view: DataView;
  /** Elements whose byte is 0 are left out; null for none. */
  readonly where: Uint8Array | null;
}

/** Strings that are hashed and then probed for: their hashes and slots stay in the first caches. */
export const BLOCK = 1024;
/** Bytes of a block's strings at most, unless one string has more: some 2 ms. */
const BLOCK_BYTES = 2 ** 21;

/** Where the block ends that begins at element `from`. */
export function blockEnd({ offsets }: Strings, from: number, to: number): number {
  const last = Math.min(to, from + BLOCK);
  if (offsets[last] - offsets[from] <= BLOCK_BYTES) return last;
  let end = from + 1;
  while (end < last && offsets[end + 1] - offsets[from] <= BLOCK_BYTES) end++;
  return end;
}

// Keeps the JIT from dropping loads whose values nobody wants.
const sink = new Uint32Array(1);

/** Writes the hashes of elements from..to to hashes[0], hashes[1], … */
export function hashBlock(
  { spec: { hash, seed = 0, hashMask } }: StringTable,
  { offsets, view }: Strings,
  from: number,
  to: number,
  hashes: Uint32Array,
): void {
  if (hash === "xxhash32") {
    for (let i = from; i < to; i++) hashes[i - from] = xxh32Of(view, offsets[i], offsets[i + 1], seed);
  } else {
    for (let i = from; i < to; i++) hashes[i - from] = murmur3Bytes(view, offsets[i], offsets[i + 1], seed);
  }
  if (hashMask !== undefined) for (let i = 0; i < to - from; i++) hashes[i] &= hashMask;
}

/**
 * Looks elements from..to up by their hashes: writes `numbers[i]`, `none` where a string has no number. Answers how many have none.
 * Elements that are left out get 0.
 */
export function lookUpBlock(
  { slots, arena }: StringTable,
  { offsets, view, where }: Strings,
  hashes: Uint32Array,
  numbers: Uint32Array,
  from: number,
  to: number,
  none: number,
): number {
  const mask = slots.length / 2 - 1;
  touch(slots, mask, hashes, to - from);
  let absent = 0;
  for (let i = from; i < to; i++) {
    if (where !== null && where[i] === 0) {
      numbers[i] = 0;
      continue;
    }
    const hash = hashes[i - from];
    const start = offsets[i];
    const length = offsets[i + 1] - start;
    let w = 2 * (hash & mask);
    let number = none;
    for (; slots[w + 1] !== 0; w = w + 2 === slots.length ? 0 : w + 2) {
      if (slots[w] !== hash || !holds(arena, slots[w + 1] - 1, view, start, length)) continue;
      number = slots[w + 1] - 1;
      break;
    }
    if (number === none) absent++;
    numbers[i] = number;
  }
  return absent;
}

/** Brings the home slots of a block into the cache, so that their misses overlap: see blocks.ts. */
function touch(slots: Uint32Array, mask: number, hashes: Uint32Array, count: number): void {
  let seen = 0;
  for (let i = 0; i < count; i++) seen ^= slots[2 * (hashes[i] & mask)];
  sink[0] = seen;
}

/** The word of the slot that has a string, or of the empty one where it goes. */
export function slotFor(
  { slots, arena }: StringTable,
  hash: number,
  view: DataView,
  start: number,
  length: number,
): number {
  const mask = slots.length / 2 - 1;
  let w = 2 * (hash & mask);
  while (slots[w + 1] !== 0) {
    if (slots[w] === hash && holds(arena, slots[w + 1] - 1, view, start, length)) return w;
    w = w + 2 === slots.length ? 0 : w + 2;
  }
  return w;
}

/** True where the record at a word of the arena is this string's. */
function holds(arena: Uint32Array, record: number, view: DataView, start: number, length: number): boolean {
  if (arena[record] !== length) return false;
  let at = start;
  let w = record + 1;
  for (const end = start + length - 4; at <= end; at += 4, w++) {
    if (view.getUint32(at, true) !== arena[w]) return false;
  }
  const rest = length % 4;
  return rest === 0 || tailWord(view, at, rest) === (arena[w] | 0);
}

/** Words of the record of a string of so many bytes. */
export function recordWords(length: number): number {
  return 1 + Math.ceil(length / 4);
}

/** Strings of more bytes than this are copied by the runtime. */
const LONG = 64;

/** Writes a string's record at a word of the arena. */
export function writeRecord(
  arena: Uint32Array,
  record: number,
  { bytes, view }: Pick<Strings, "bytes" | "view">,
  start: number,
  length: number,
): void {
  arena[record] = length;
  const end = start + length;
  const rest = length % 4;
  let at = start;
  let w = record + 1;
  if (length > LONG) {
    const target = new Uint8Array(arena.buffer, arena.byteOffset + w * 4, length - rest);
    target.set(bytes.subarray(start, end - rest));
    at = end - rest;
    w += (length - rest) / 4;
  }
  for (; at + 4 <= end; at += 4, w++) arena[w] = view.getUint32(at, true);
  if (rest > 0) arena[w] = tailWord(view, at, rest);
}

/** The word of the first empty slot of a probe. */
export function emptySlot(slots: Uint32Array, hash: number): number {
  const mask = slots.length / 2 - 1;
  let w = 2 * (hash & mask);
  while (slots[w + 1] !== 0) w = w + 2 === slots.length ? 0 : w + 2;
  return w;
}

/** Puts the strings of a table into the empty slots of a larger one. */
export function moveSlots(from: Uint32Array, to: Uint32Array): void {
  for (let w = 0; w < from.length; w += 2) {
    if (from[w + 1] === 0) continue;
    const target = emptySlot(to, from[w]);
    to[target] = from[w];
    to[target + 1] = from[w + 1];
  }
}

/**
 * Copies a record of another arena, whose string is not in the table, to a word of this one. Answers how many words it has.
 * @param view the bytes of this one
 */
export function addRecord(
  { slots, arena, spec }: StringTable,
  view: DataView,
  number: number,
  from: Uint32Array,
  record: number,
): number {
  const length = from[record];
  const words = recordWords(length);
  if (length > LONG) arena.set(from.subarray(record, record + words), number);
  else for (let k = 0; k < words; k++) arena[number + k] = from[record + k];
  const first = 4 * (number + 1);
  const hash = hashBytes(spec, view, first, first + length);
  const w = emptySlot(slots, hash);
  slots[w] = hash;
  slots[w + 1] = number + 1;
  return words;
}

function hashBytes(
  { hash, seed = 0, hashMask = -1 }: DictionarySpec,
  view: DataView,
  from: number,
  to: number,
) {
  const bytesHash = hash === "xxhash32" ? xxh32Of : murmur3Bytes;
  return (bytesHash(view, from, to, seed) & hashMask) >>> 0;
}
