/**
 * The hash table of a dictionary, and the loops over it: hash a block of strings, look them up, put new ones in. Two
 * words a slot, the hash of a string and its number plus one, 0 for none; slots are a power of two, at most half of
 * them taken, probed one after another, `REACH` of them at most: strings that find no place there are in a tree
 * (../groups/key-tree.ts), so no choice of strings makes a probe long. Strings never leave, so there are no tombstones.
 * A record of the arena is a string's length and its bytes, filled up with zeros.
 */
import { xxh32Of } from "../../../xxh32.js";
import type { DictionarySpec } from "../../dictionary.js";
import { murmur3Bytes, tailWord } from "../../hash-bytes.js";
import type { Keying } from "../../hash-seed.js";
import { type CompareKey, KeyTree, REACH } from "../groups/key-tree.js";

/** Memory that strings are looked up in. Can be posted to workers. */
export interface StringTable {
  readonly slots: Uint32Array;
  readonly arena: Uint32Array;
  /** By hash and string: number plus one. */
  readonly tree: Pick<KeyTree, "words">;
  readonly spec: DictionarySpec;
  /** By the dictionary's seed, or that of the engine. */
  readonly keying: Keying;
}

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
  { spec: { hash, hashMask }, keying: { factor, summand, multiplier, offset } }: StringTable,
  { offsets, view }: Strings,
  from: number,
  to: number,
  hashes: Uint32Array,
): void {
  if (hash === "xxhash32") {
    for (let i = from; i < to; i++)
      hashes[i - from] = xxh32Of(view, offsets[i], offsets[i + 1], 0, multiplier, offset);
  } else {
    for (let i = from; i < to; i++)
      hashes[i - from] = murmur3Bytes(view, offsets[i], offsets[i + 1], 0, factor, summand);
  }
  if (hashMask !== undefined) for (let i = 0; i < to - from; i++) hashes[i] &= hashMask;
}

/**
 * Looks elements from..to up by their hashes: writes `numbers[i]`, `none` where a string has no number. Answers how
 * many have none. Elements that are left out get 0.
 */
export function lookUpBlock(
  { slots, arena, tree }: StringTable,
  { offsets, view, where }: Strings,
  hashes: Uint32Array,
  numbers: Uint32Array,
  from: number,
  to: number,
  none: number,
): number {
  const mask = slots.length / 2 - 1;
  const reach = reachOf(mask);
  const others = new KeyTree(tree.words);
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
    const end = (w + reach) & (2 * mask + 1);
    let number = none;
    while (slots[w + 1] !== 0) {
      if (slots[w] === hash && holds(arena, slots[w + 1] - 1, view, start, length)) {
        number = slots[w + 1] - 1;
        break;
      }
      w = w + 2 === slots.length ? 0 : w + 2;
      if (w === end) {
        const other = others.find(comparing(arena, hash, view, start, length));
        if (other !== 0) number = other - 1;
        break;
      }
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

/** Words of slots that a probe passes, less than all. */
function reachOf(mask: number): number {
  return 2 * Math.min(REACH, mask);
}

/** The number + 1 of a string; 0 where it has none. */
export function numberOf(
  { slots, arena }: StringTable,
  tree: KeyTree,
  hash: number,
  view: DataView,
  start: number,
  length: number,
): number {
  const mask = slots.length / 2 - 1;
  let w = 2 * (hash & mask);
  const end = (w + reachOf(mask)) & (2 * mask + 1);
  while (slots[w + 1] !== 0) {
    if (slots[w] === hash && holds(arena, slots[w + 1] - 1, view, start, length)) return slots[w + 1];
    w = w + 2 === slots.length ? 0 : w + 2;
    if (w === end) return tree.find(comparing(arena, hash, view, start, length));
  }
  return 0;
}

/** Notes where a string is whose record is in the arena, and which has no slot yet. */
export function place({ slots, arena }: StringTable, tree: KeyTree, hash: number, number: number): void {
  const mask = slots.length / 2 - 1;
  let w = 2 * (hash & mask);
  const end = (w + reachOf(mask)) & (2 * mask + 1);
  while (slots[w + 1] !== 0) {
    w = w + 2 === slots.length ? 0 : w + 2;
    if (w !== end) continue;
    const view = new DataView(arena.buffer, arena.byteOffset, arena.byteLength);
    tree.add(hash, number + 1, comparing(arena, hash, view, 4 * (number + 1), arena[number]));
    return;
  }
  slots[w] = hash;
  slots[w + 1] = number + 1;
}

/** Where a string is among those of a tree: by hash, then by length, then by words. */
function comparing(
  arena: Uint32Array,
  hash: number,
  view: DataView,
  start: number,
  length: number,
): CompareKey {
  return (otherHash, value) => {
    const record = value - 1;
    if (hash !== otherHash) return hash - otherHash;
    if (length !== arena[record]) return length - arena[record];
    for (let at = 0, w = record + 1; at < length; at += 4, w++) {
      const rest = Math.min(4, length - at);
      const word = (rest === 4 ? view.getInt32(start + at, true) : tailWord(view, start + at, rest)) >>> 0;
      if (word !== arena[w]) return word - arena[w];
    }
    return 0;
  };
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

/** Puts the strings of a table into the empty slots of a larger one. */
export function moveSlots({ slots, tree }: StringTable, to: StringTable, larger: KeyTree): void {
  for (let w = 0; w < slots.length; w += 2) {
    if (slots[w + 1] !== 0) place(to, larger, slots[w], slots[w + 1] - 1);
  }
  new KeyTree(tree.words).each((hash, value) => place(to, larger, hash, value - 1));
}

/**
 * Copies a record of another arena, whose string is not in the table, to a word of this one. Answers how many words it
 * has.
 * @param view the bytes of this one
 */
export function addRecord(
  table: StringTable,
  tree: KeyTree,
  view: DataView,
  number: number,
  from: Uint32Array,
  record: number,
): number {
  const { arena } = table;
  const length = from[record];
  const words = recordWords(length);
  if (length > LONG) arena.set(from.subarray(record, record + words), number);
  else for (let k = 0; k < words; k++) arena[number + k] = from[record + k];
  const first = 4 * (number + 1);
  place(table, tree, hashBytes(table, view, first, first + length), number);
  return words;
}

function hashBytes(
  { spec: { hash, hashMask = -1 }, keying: { factor, summand, multiplier, offset } }: StringTable,
  view: DataView,
  from: number,
  to: number,
) {
  const value =
    hash === "xxhash32"
      ? xxh32Of(view, from, to, 0, multiplier, offset)
      : murmur3Bytes(view, from, to, 0, factor, summand);
  return (value & hashMask) >>> 0;
}
