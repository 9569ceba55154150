/** Hashes of keys in tables of the cpu engine: with the table's seed, and the user's own function where it has one. */
import { hashFunctions, keyedWord } from "../../hash.js";
import { hashNames, NO_SEED, type OwnHash } from "../../hash-names.js";
import { hashWords } from "../../hash-words.js";
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
/** A key's words as the seed sends them; the widest keys have eight. */
const keyed = new Uint32Array(8);

/** Hash of a key of one word. */
export function hashOfWord({ hash, seed = NO_SEED, own }: TableHash, key: number): number {
  word[0] = keyedWord(key, seed);
  if (own) return own(word[0]) >>> 0;
  const name = hashNames[hash];
  return name === "xxhash64" ? xxhash64(word, 0, 1) : hashFunctions[name](word[0]);
}

/** Hash of a key of several words: those from `words[at]` on. */
export function hashOfWords(
  { hash, seed = NO_SEED, own }: TableHash,
  words: Uint32Array,
  at: number,
  count: number,
): number {
  if (seed === NO_SEED && !own) return hashWords(hashNames[hash], words, at, count);
  for (let i = 0; i < count; i++) keyed[i] = keyedWord(words[at + i], seed);
  return own ? own(...keyed.subarray(0, count)) >>> 0 : hashWords(hashNames[hash], keyed, 0, count);
}
