/** Hashes of keys of several words in tables of the cpu engine, as table-hash.ts has them for keys of one. */
import { keyedWord } from "../../hash.js";
import { hashNames, NO_SEED } from "../../hash-names.js";
import { hashWords } from "../../hash-words.js";
import type { TableHash } from "./table-hash.js";

/** A key's words as the seed sends them; the widest keys have eight. */
const keyed = new Uint32Array(8);

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
