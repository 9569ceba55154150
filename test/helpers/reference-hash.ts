/**
 * Hashes of keys, written from the definitions with big integers: what a seed does, and XXH64. The others are the engine's reference
 * functions, which have vectors of their own.
 */
import { hashFunctions } from "../../src/engine/hash.js";
import type { HashName, OwnHash } from "../../src/engine/hash-names.js";
import { hashWords } from "../../src/engine/hash-words.js";

const BITS32 = 2n ** 32n;
const BITS64 = 2n ** 64n;

/** The hash of a key's words in a table with this hash function and seed. */
export function referenceHash(
  { hash, seed = 0 }: { readonly hash: HashName | OwnHash; readonly seed?: number | undefined },
  words: ArrayLike<number>,
): number {
  const keyed = Array.from(words, (word) => {
    if (seed === 0) return word;
    const [multiplier, offset] = [fmix32(BigInt(seed)) | 1n, fmix32((BigInt(seed) + 0x9e3779b9n) % BITS32)];
    return Number((BigInt(word) * multiplier + offset) % BITS32);
  });
  if (typeof hash !== "string") return hash.js(...keyed) >>> 0;
  if (hash === "xxhash64") return Number(xxh64(keyed) % BITS32);
  if (keyed.length === 1) return hashFunctions[hash](keyed[0]);
  return hashWords(hash, Uint32Array.from(keyed), 0, keyed.length);
}

/** MurmurHash3's finalizer. */
function fmix32(key: bigint): bigint {
  let h = key;
  h = ((h ^ (h >> 16n)) * 0x85ebca6bn) % BITS32;
  h = ((h ^ (h >> 13n)) * 0xc2b2ae35n) % BITS32;
  return h ^ (h >> 16n);
}

const [P1, P2, P3, P4, P5] = [
  11400714785074694791n,
  14029467366897019727n,
  1609587929392839161n,
  9650029242287828579n,
  2870177450012600261n,
];

/** XXH64 with seed 0 of whole words, after doc/xxhash_spec.md of Cyan4973/xxHash. */
export function xxh64(words: readonly number[]): bigint {
  const at = (i: number) => BigInt(words[i]) | (BigInt(words[i + 1]) << 32n);
  const round = (acc: bigint, lane: bigint) => (rotate((acc + lane * P2) % BITS64, 31n) * P1) % BITS64;
  let i = 0;
  let acc = P5;
  if (words.length >= 8) {
    const lanes = [(P1 + P2) % BITS64, P2, 0n, BITS64 - P1];
    for (; i + 8 <= words.length; i += 8) {
      for (let lane = 0; lane < 4; lane++) lanes[lane] = round(lanes[lane], at(i + 2 * lane));
    }
    acc = lanes.reduce((sum, lane, k) => (sum + rotate(lane, [1n, 7n, 12n, 18n][k])) % BITS64, 0n);
    for (const lane of lanes) acc = ((acc ^ round(0n, lane)) * P1 + P4) % BITS64;
  }
  acc = (acc + BigInt(4 * words.length)) % BITS64;
  for (; i + 2 <= words.length; i += 2) acc = (rotate(acc ^ round(0n, at(i)), 27n) * P1 + P4) % BITS64;
  if (i < words.length) acc = (rotate(acc ^ ((BigInt(words[i]) * P1) % BITS64), 23n) * P2 + P3) % BITS64;
  acc = ((acc ^ (acc >> 33n)) * P2) % BITS64;
  acc = ((acc ^ (acc >> 29n)) * P3) % BITS64;
  return acc ^ (acc >> 32n);
}

function rotate(x: bigint, bits: bigint): bigint {
  return ((x << bits) | (x >> (64n - bits))) % BITS64;
}
