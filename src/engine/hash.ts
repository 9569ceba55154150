/**
 * The hash functions, as reference code in TypeScript. hash.wgsl is the same arithmetic; a test compares both bit by bit.
 * For keys of one word they map a 32-bit pattern to a 32-bit hash and are bijections, so distinct keys have distinct hashes.
 * Wider keys are hashed by the full function over all their words (hash-words.ts), and different ones may have the same hash.
 */

/** Hash functions to choose from; `murmur3` is the default. */
export type HashName = "murmur3" | "xxhash32" | "identity";

/** Position in this list is the number that kernels know a hash function by. */
export const hashNames: readonly HashName[] = ["murmur3", "xxhash32", "identity"];

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

/** The key itself. Slots follow the key's order, so it suits keys that are already spread over all 32 bits, and no others. */
export function identity(key: number): number {
  return key >>> 0;
}

/** Hash function by name. */
export const hashFunctions: { readonly [N in HashName]: (key: number) => number } = {
  murmur3,
  xxhash32,
  identity,
};

/** floor(hash × slots / 2^32), exactly: the home slot. Monotone in the hash, so top hash bits name a range of slots. */
export function homeSlot(hash: number, slots: number): number {
  // two products of at most 48 bits: exact in doubles
  return Math.floor(((hash >>> 16) * slots + Math.floor(((hash & 0xffff) * slots) / 65536)) / 65536);
}
