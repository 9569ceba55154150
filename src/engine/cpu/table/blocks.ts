/**
 * Blocks: elements of a batch that are ready to probe. A block holds three columns: the key's bits, the first
 * word of its home slot, and the element's number in the batch.
 *
 * Every operation works block by block: choose elements (`where`), hash them all, touch all home slots, then
 * probe. Only the hashing loop differs between hash functions, so each loop is specialised by the JIT, and
 * touching the home slots first lets the processor overlap their cache misses, which the branches of a probe
 * would prevent (2^23 keys in 128 MiB: 74 ns a key without it, 50 with it; Node 20, EPYC 9004).
 */
import { floatsIn } from "../../element-types.js";
import { canonicalise } from "../../float-keys.js";
import { drawn, homeSlot } from "../../hash.js";
import { type HashName, hashNames } from "../../hash-names.js";
import { SIDE_SLOTS } from "../../layout.js";
import { hashOfWord, type TableHash } from "./table-hash.js";

/**
 * What a thread needs to know of a table to probe it. Can be posted to workers, unless the hash function is the user's
 * own.
 */
export interface TableMemory extends TableHash {
  /** All slots, side slots included, as layout.ts says. */
  readonly slots: Uint32Array;
  /** Slots without the side slots. */
  readonly slotCount: number;
  /** 32-bit words of a slot. */
  readonly words: number;
  /** Keys are one word, a float, and need their canonical bits. */
  readonly floatKeys: boolean;
}

/** Columns of elements ready to probe. */
export interface Block {
  readonly key: Uint32Array;
  /** First word of the home slot. */
  readonly home: Uint32Array;
  /** Number of the element in its batch. */
  readonly element: Uint32Array;
}

/**
 * Elements that are hashed and touched at once: three columns fill 12 KiB, and twice as many cache lines of
 * slots fit in L2.
 */
export const BLOCK = 1024;

/** Tables of more words than this do not fit the L2 cache (1 MiB), and touching home slots early pays. */
const TOUCH_WORDS = 2 ** 18;

/** The floats in keys that are one. */
const FLOAT_WORD = floatsIn("f32");

const MURMUR3 = hashNames.indexOf("murmur3" satisfies HashName);
const XXHASH32 = hashNames.indexOf("xxhash32" satisfies HashName);
const IDENTITY = hashNames.indexOf("identity" satisfies HashName);

/** A block of `length` elements in memory of this thread. */
export function allocateBlock(length: number): Block {
  return { key: new Uint32Array(length), home: new Uint32Array(length), element: new Uint32Array(length) };
}

/** Memory that one thread works in; it outlives jobs. */
export interface Workspace {
  /** For elements that are probed at once. */
  readonly block: Block;
  /** For a slice before it is sorted; grown on demand. */
  slice: Block;
}

export function newWorkspace(): Workspace {
  return { block: allocateBlock(BLOCK), slice: allocateBlock(0) };
}

/**
 * Fills a block with elements `from..to` of a batch, less those that `where` leaves out. Returns how many
 * there are.
 */
export function fillBlock(
  block: Block,
  table: TableMemory,
  keys: Uint32Array,
  where: Uint8Array | null,
  from: number,
  to: number,
): number {
  const count = where === null ? takeAll(block, keys, from, to) : takeSelected(block, keys, where, from, to);
  if (table.floatKeys) canonicalise(block.key, 1, FLOAT_WORD, count);
  computeHomes(block, table, count);
  return count;
}

/** Fills the `home` column from the `key` column. */
export function computeHomes(block: Block, table: TableMemory, count: number): void {
  const { home } = block;
  const { hash, own, seed, slotCount, words } = table;
  const key = seed ? keyedWords(block, seed, count) : block.key;
  if (own) otherHomes(block, table, count);
  else if (hash === MURMUR3) murmur3Homes(key, home, count, slotCount, words);
  else if (hash === XXHASH32) xxhash32Homes(key, home, count, slotCount, words);
  else if (hash === IDENTITY) identityHomes(key, home, count, slotCount, words);
  else otherHomes(block, table, count);
}

/** The keys as the seed sends them, in the `home` column. */
function keyedWords({ key, home }: Block, seed: number, count: number): Uint32Array {
  const { multiplier, offset } = drawn(seed);
  for (let i = 0; i < count; i++) home[i] = Math.imul(key[i], multiplier) + offset;
  return home;
}

function otherHomes({ key, home }: Block, table: TableMemory, count: number): void {
  for (let i = 0; i < count; i++) {
    home[i] = homeSlot(hashOfWord(table, key[i]), table.slotCount) * table.words;
  }
}

// Keeps the JIT from dropping loads whose values nobody wants.
const sink = new Uint32Array(1);

/**
 * Brings the home slots of elements `from..to` of a block into the cache, and for chains that go on in the
 * next cache line the second slots after them, which the side slots behind the table make safe to read.
 */
export function touchHomes(block: Block, table: TableMemory, from: number, to: number): void {
  const { slots } = table;
  if (slots.length <= TOUCH_WORDS) return;
  const { home } = block;
  const ahead = SIDE_SLOTS * table.words;
  let seen = 0;
  for (let i = from; i < to; i++) {
    const w = home[i];
    seen ^= slots[w] ^ slots[w + ahead];
  }
  sink[0] = seen;
}

function takeAll(block: Block, keys: Uint32Array, from: number, to: number): number {
  const { key, element } = block;
  const count = to - from;
  for (let i = 0; i < count; i++) {
    key[i] = keys[from + i];
    element[i] = from + i;
  }
  return count;
}

function takeSelected(block: Block, keys: Uint32Array, where: Uint8Array, from: number, to: number): number {
  const { key, element } = block;
  let count = 0;
  for (let i = from; i < to; i++) {
    key[count] = keys[i];
    element[count] = i;
    // 1 for every byte that is not 0: no branch to mispredict
    count += (where[i] + 255) >>> 8;
  }
  return count;
}

// The three loops below are hash.ts's functions and homeSlot, inlined by hand. floor(hash × slots / 2^32):
// the double product may be off by 2^10; taking its exact low word away leaves a multiple of 2^32 give or
// take 2^11, which the last steps round right.

function murmur3Homes(
  key: Uint32Array,
  home: Uint32Array,
  count: number,
  slots: number,
  words: number,
): void {
  for (let i = 0; i < count; i++) {
    let h = key[i];
    h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    h = (h ^ (h >>> 16)) >>> 0;
    home[i] = Math.imul(((h * slots - (Math.imul(h, slots) >>> 0)) * 2 ** -32 + 0.5) >>> 0, words);
  }
}

function xxhash32Homes(
  key: Uint32Array,
  home: Uint32Array,
  count: number,
  slots: number,
  words: number,
): void {
  for (let i = 0; i < count; i++) {
    let h = (0x165667b1 + 4 + Math.imul(key[i], 0xc2b2ae3d)) | 0;
    h = Math.imul((h << 17) | (h >>> 15), 0x27d4eb2f);
    h = Math.imul(h ^ (h >>> 15), 0x85ebca77);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae3d);
    h = (h ^ (h >>> 16)) >>> 0;
    home[i] = Math.imul(((h * slots - (Math.imul(h, slots) >>> 0)) * 2 ** -32 + 0.5) >>> 0, words);
  }
}

function identityHomes(
  key: Uint32Array,
  home: Uint32Array,
  count: number,
  slots: number,
  words: number,
): void {
  for (let i = 0; i < count; i++) {
    const h = key[i];
    home[i] = Math.imul(((h * slots - (Math.imul(h, slots) >>> 0)) * 2 ** -32 + 0.5) >>> 0, words);
  }
}
