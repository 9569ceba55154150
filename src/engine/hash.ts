/**
 * The hash functions of keys of one word, as reference code in TypeScript, and what a seed does. The kernels' are the
 * same arithmetic; a test compares both bit by bit. murmur3, xxhash32 and identity are bijections of 32-bit patterns;
 * xxhash64 and users' own functions need not be. Wider keys are hashed by the full function over all their words
 * (hash-words.ts). Nothing relies on distinct keys having distinct hashes.
 */
import { type HashName, NO_SEED } from "./hash-names.js";

/**
 * What stands for a key's word before it is hashed, in a table with a seed: odd multiplier × word + offset, both drawn
 * from the seed. A bijection for every seed. Two words that differ fall into the same upper bits for few multipliers
 * (Dietzfelbinger et al., 1997), so whoever doesn't know the seed can't choose many keys that collide, whatever the
 * function behind. Without a seed, the word.
 */
export function keyedWord(word: number, seed: number): number {
  if (seed === NO_SEED) return word;
  const { multiplier, offset } = drawn(seed);
  return (Math.imul(word, multiplier) + offset) >>> 0;
}

/** What is drawn from a seed. */
export function drawn(seed: number): { multiplier: number; offset: number } {
  return { multiplier: murmur3(seed) | 1, offset: murmur3(seed + 0x9e3779b9) };
}

/** fmix32, the finalizer of MurmurHash3 (Appleby, public domain): 2 multiplications, full avalanche. */
export function murmur3(key: number): number {
  let h = key;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** XXH32 (Collet) of the key's four little-endian bytes with seed 0. cuCollections' default hash. */
export function xxhash32(key: number): number {
  let h = (0x165667b1 + 4 + Math.imul(key, 0xc2b2ae3d)) | 0;
  h = Math.imul((h << 17) | (h >>> 15), 0x27d4eb2f);
  h = Math.imul(h ^ (h >>> 15), 0x85ebca77);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae3d);
  return (h ^ (h >>> 16)) >>> 0;
}

/**
 * The key itself. Slots follow the key's order, so it suits keys that are already spread over all 32 bits, and no
 * others.
 */
export function identity(key: number): number {
  return key >>> 0;
}

/** The hash functions that are bijections of one word. */
export type BijectionName = Exclude<HashName, "xxhash64">;

/** Hash function of one word by name. */
export const hashFunctions: { readonly [N in BijectionName]: (key: number) => number } = {
  murmur3,
  xxhash32,
  identity,
};

/** floor(hash × slots / 2^32), exactly: the home slot. Monotone in the hash, so top hash bits name a range of slots. */
export function homeSlot(hash: number, slots: number): number {
  // two products of at most 48 bits: exact in doubles
  return Math.floor(((hash >>> 16) * slots + Math.floor(((hash & 0xffff) * slots) / 65536)) / 65536);
}
