/**
 * The hash functions, as reference code in TypeScript. hash.wgsl is the same arithmetic; a test compares both bit by bit.
 * For keys of one word they map a 32-bit pattern to a 32-bit hash and are bijections, so distinct keys have distinct hashes.
 * Wider keys are hashed by the full function over all their words (`hashWords`), and different ones may have the same hash.
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

/**
 * Hash of a key of `count` words from `words[at]` on, which stand for their little-endian bytes. This is the full function with
 * seed 0, whatever the count: MurmurHash3_x86_32 or XXH32; `identity` is the first (low) word. Tables use it for keys of more than
 * one word; those of one word use `hashFunctions`, where murmur3 is the finalizer alone.
 */
export function hashWords(name: HashName, words: Uint32Array, at: number, count: number): number {
  if (name === "murmur3") return murmur3Words(words, at, count);
  return name === "xxhash32" ? xxhash32Words(words, at, count) : words[at];
}

/** MurmurHash3_x86_32 (Appleby, public domain) of 4 × count bytes: no tail, as there are only whole words. */
function murmur3Words(words: Uint32Array, at: number, count: number): number {
  let h = 0;
  for (let i = at; i < at + count; i++) {
    h ^= Math.imul(rotate(Math.imul(words[i], 0xcc9e2d51), 15), 0x1b873593);
    h = (Math.imul(rotate(h, 13), 5) + 0xe6546b64) | 0;
  }
  return murmur3(h ^ (4 * count));
}

const PRIME1 = 0x9e3779b1;
const PRIME2 = 0x85ebca77;
const PRIME3 = 0xc2b2ae3d;
const PRIME4 = 0x27d4eb2f;
const PRIME5 = 0x165667b1;

/** XXH32 (Collet) of 4 × count bytes: 16 bytes and more begin in four lanes. */
function xxhash32Words(words: Uint32Array, at: number, count: number): number {
  const end = at + count;
  let i = at;
  let h = PRIME5;
  if (count >= 4) {
    let [a, b, c, d] = [PRIME1 + PRIME2, PRIME2, 0, -PRIME1];
    for (; i + 4 <= end; i += 4) {
      a = lane(a, words[i]);
      b = lane(b, words[i + 1]);
      c = lane(c, words[i + 2]);
      d = lane(d, words[i + 3]);
    }
    h = (rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18)) | 0;
  }
  h = (h + 4 * count) | 0;
  for (; i < end; i++) h = Math.imul(rotate(h + Math.imul(words[i], PRIME3), 17), PRIME4);
  h = Math.imul(h ^ (h >>> 15), PRIME2);
  h = Math.imul(h ^ (h >>> 13), PRIME3);
  return (h ^ (h >>> 16)) >>> 0;
}

function lane(sum: number, word: number): number {
  return Math.imul(rotate(sum + Math.imul(word, PRIME2), 13), PRIME1);
}

function rotate(x: number, bits: number): number {
  return (x << bits) | (x >>> (32 - bits));
}

/** floor(hash × slots / 2^32), exactly: the home slot. Monotone in the hash, so top hash bits name a range of slots. */
export function homeSlot(hash: number, slots: number): number {
  // two products of at most 48 bits: exact in doubles
  return Math.floor(((hash >>> 16) * slots + Math.floor(((hash & 0xffff) * slots) / 65536)) / 65536);
}
