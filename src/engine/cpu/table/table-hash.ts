/**
 * Hashes of keys of one word in tables of the cpu engine: with the table's seed, and the user's own function where it
 * has one. Wider keys: wide-hash.ts.
 */
import { hashFunctions, keyedWord } from "../../hash.js";
import { hashNames, NO_SEED, type OwnHash } from "../../hash-names.js";
import { xxhash64 } from "../../xxhash64.js";

/** The hash function of a table. Can be posted to workers where it is none of the user's own. */
export interface TableHash {
  /** Position of the hash function in `hashNames`; not read where it is the user's own. */
  readonly hash: number;
  /** 0, or left out: none. */
  readonly seed?: number | undefined;
  readonly own?: OwnHash["js"] | undefined;
}

const word = new Uint32Array(1);

/** Hash of a key of one word. */
export function hashOfWord({ hash, seed = NO_SEED, own }: TableHash, key: number): number {
  word[0] = keyedWord(key, seed);
  if (own) return own(word[0]) >>> 0;
  const name = hashNames[hash];
  return name === "xxhash64" ? xxhash64(word, 0, 1) : hashFunctions[name](word[0]);
}
