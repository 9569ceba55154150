/**
 * The names of the hash functions, and what a user's own one is. The functions are in hash.ts: pages whose tables are
 * on a GPU need none.
 */

/** Hash functions to choose from; `murmur3` is the default. */
export type HashName = "murmur3" | "xxhash32" | "identity" | "xxhash64";

/** All of them. Bytes of tables (toBytes) have a function's place in this list. */
export const hashNames: readonly HashName[] = ["murmur3", "xxhash32", "identity", "xxhash64"];

/**
 * A hash function of the user's own, in JavaScript for the cpu engine and in WGSL for GPUs. Both take the words of a
 * key (32 bits each, the low word of 64 bits first; float keys in the form in which equal keys have equal bits) and
 * answer 32 bits, spread as evenly as can be.
 */
export interface OwnHash {
  /** What it is called: also the WGSL function's name. */
  readonly name: string;
  /** One argument a word of the key, each a whole number from 0 to 2^32 - 1; the answer's low 32 bits count. */
  readonly js: (...words: number[]) => number;
  /**
   * WGSL that declares `fn NAME(word: u32, …) -> u32`, one parameter a word of the key, and what it needs. Not read on
   * the cpu engine.
   */
  readonly wgsl?: string;
}

/** The seed of tables that ask for none. They hash keys as they are. */
export const NO_SEED = 0;
