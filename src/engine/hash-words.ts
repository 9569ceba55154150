/**
 * The hash functions of keys of several words, as reference code in TypeScript: hash-wide.wgsl is the same arithmetic.
 */
import { murmur3 } from "./hash.js";
import type { HashName } from "./hash-names.js";
import { foldWord } from "./row-hash.js";
import { xxhash64 } from "./xxhash64.js";

/**
 * Hash of a key of `count` words from `words[at]` on, which stand for their little-endian bytes. This is the full
 * function with seed 0, whatever the count: MurmurHash3_x86_32, XXH32, or the low 32 bits of XXH64; `identity` is the
 * first (low) word. Tables use it for keys of more than one word; those of one word use `hashFunctions`, where murmur3
 * is the finalizer alone.
 */
export function hashWords(name: HashName, words: Uint32Array, at: number, count: number): number {
  if (name === "murmur3") return murmur3Words(words, at, count);
  if (name === "xxhash64") return xxhash64(words, at, count);
  return name === "xxhash32" ? xxhash32Words(words, at, count) : words[at];
}

/** MurmurHash3_x86_32 (Appleby, public domain) of 4 × count bytes: no tail, as there are only whole words. */
function murmur3Words(words: Uint32Array, at: number, count: number): number {
  let h = 0;
  for (let i = at; i < at + count; i++) h = foldWord(h, words[i]);
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
