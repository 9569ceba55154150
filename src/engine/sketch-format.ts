/**
 * What sketches hold, the same on every engine, as reference arithmetic: which bits of a Bloom filter a key sets, and
 * which register of a HyperLogLog it raises to what. The kernels sketches/*.wgsl and sketches/*.cu are the same
 * arithmetic; a test compares contents byte for byte.
 *
 * Both start from 64 bits of hash: the first word is the hash of tables (murmur3 of engine/hash.ts and hash-words.ts),
 * the second one MurmurHash3_x86_32 of the key's words with the first as its seed.
 */
import { isFloatWord } from "./element-types.js";
import { canonicalF32 } from "./float-keys.js";
import { homeSlot, murmur3 } from "./hash.js";
import { foldWord } from "./row-hash.js";
import { type BasicType, scalarWords } from "./scalars.js";

/**
 * Words of a block of a Bloom filter. A key sets one bit in each word of its block: 32 bytes, one memory transaction of
 * a GPU. This is the split block Bloom filter of Apache Parquet (BloomFilter.md; Putze, Sanders, Singler 2007) with
 * another hash.
 */
export const BLOCK_WORDS = 8;
/** Bytes of a block. */
export const BLOCK_BYTES = 4 * BLOCK_WORDS;
/** Odd factors that choose a key's bit in each word of its block: those of the Parquet format. */
export const SALTS: readonly number[] = [
  0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
];
/** Most blocks of a filter: block numbers are 32 bits wide, and the last number stands for "none". */
export const MOST_BLOCKS = 2 ** 32 - 1;

/** Least and most precision of a HyperLogLog: it has 2^precision registers. */
export const LEAST_PRECISION = 4;
export const MOST_PRECISION = 18;

/** The largest value of a register: the bits of hash behind the register's number, and 1. */
export function mostRank(precision: number): number {
  return 64 - precision + 1;
}

/** The first word of the hash of a key of one word. */
export const firstHash = murmur3;

/** The second word of the hash of a key of one word, from the first one. */
export function secondHash(key: number, first: number): number {
  return murmur3(foldWord(first, key) ^ 4);
}

/** The first word of the hash of a key of two words; with `seed` the first word, the second one. */
export function hashPair(low: number, high: number, seed = 0): number {
  return murmur3(foldWord(foldWord(seed, low), high) ^ 8);
}

/** The block of a key in a filter of so many blocks. */
export const blockOf = homeSlot;

/** The bit that a key sets in word `word` of its block. */
export function bitOf(second: number, word: number): number {
  return 1 << (Math.imul(second, SALTS[word]) >>> 27);
}

/**
 * What a key raises its register to: the place of the first 1 in the bits of hash behind the register's number, from 1
 * on.
 */
export function rankOf(first: number, second: number, precision: number): number {
  const rest = first << precision;
  return 1 + (rest === 0 ? 32 - precision + Math.clz32(second) : Math.clz32(rest));
}

/** A column of keys by its 32-bit words. */
export interface KeyColumn {
  readonly words: Uint32Array;
  /** Words of a key. */
  readonly width: number;
  /** Keys are one word, a float, and need their canonical bits. */
  readonly float: boolean;
}

/** Keys of a type by their words. */
export function keyColumn(type: BasicType, words: Uint32Array): KeyColumn {
  return { words, width: scalarWords[type], float: isFloatWord(type) };
}

/** Hashes keys `from` to `to` of a column into two arrays, from their first element on. */
export function hashKeys(
  { words, width, float }: KeyColumn,
  from: number,
  to: number,
  first: Uint32Array,
  second: Uint32Array,
): void {
  if (width === 2) {
    for (let i = from; i < to; i++) {
      const [low, high] = [words[2 * i], words[2 * i + 1]];
      const hash = hashPair(low, high);
      first[i - from] = hash;
      second[i - from] = hashPair(low, high, hash);
    }
    return;
  }
  for (let i = from; i < to; i++) {
    const key = float ? canonicalF32(words[i]) : words[i];
    const hash = firstHash(key);
    first[i - from] = hash;
    second[i - from] = secondHash(key, hash);
  }
}
