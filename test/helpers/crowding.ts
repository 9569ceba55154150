/** Keys that somebody chose so that their hashes crowd: without knowing a seed, and for a seed that is known. */
import { type Keying, keyingOf, UNKEYED } from "../../src/engine/hash-seed.js";
import { foldKeyed } from "../../src/engine/row-hash.js";

/** The odd number that times `odd` is 1 modulo 2^32 (Newton; every step doubles the bits that are right). */
export function inverse(odd: number): number {
  let x = odd;
  for (let i = 0; i < 5; i++) x = Math.imul(x, 2 - Math.imul(odd, x));
  return x;
}

const rotated = (x: number, bits: number) => (x << bits) | (x >>> (32 - bits));

/** The word that adds `k` to a row's hash: MurmurHash3's steps on a word, backwards. */
function wordOf(k: number, { factor, summand }: Keying): number {
  const before = rotated(Math.imul(k, inverse(0x1b873593)), 17);
  return Math.imul((before - summand) | 0, inverse(factor));
}

/** The word that `mixedWord` of groups/row-keys.ts makes a hash of. */
export function unmixed(hash: number): number {
  const h = Math.imul(hash ^ (hash >>> 16), inverse(0xc2b2ae35));
  return h ^ (h >>> 15) ^ (h >>> 30);
}

/** Keys of `width` words, two at least, that all have one row hash: the last word undoes what the others have done. */
export function crowdedWords(count: number, width: number, seed: number | null): Uint32Array {
  const keying = seed === null ? UNKEYED : keyingOf(seed);
  const words = new Uint32Array(count * width);
  for (let i = 0; i < count; i++) {
    let hash = 0;
    for (let k = 0; k < width - 1; k++) {
      const word = Math.imul(i + 1, 0x9e3779b1 + 2 * k) >>> 0;
      words[i * width + k] = word;
      hash = foldKeyed(hash, word, keying.factor, keying.summand);
    }
    words[i * width + width - 1] = wordOf(hash ^ 0x12345678, keying);
  }
  return words;
}

/** Words of which a hash for keys of one word, given by its inverse, has neighbouring values. */
export function crowdedOnes(
  count: number,
  unhash: (hash: number) => number,
  seed: number | null,
): Uint32Array {
  const { multiplier, offset } = seed === null ? UNKEYED : keyingOf(seed);
  return Uint32Array.from({ length: count }, (_, i) =>
    Math.imul(unhash(i * 2 ** 19) - offset, inverse(multiplier)),
  );
}

/** Rows of pairs of words that collide in MurmurHash3_x86_32 whatever value the hash starts with (Aumasson and Bernstein, 2012). */
export function collidingPairs(pairs: number): Uint32Array {
  const words = new Uint32Array(4 * pairs);
  const contribution = (word: number) => Math.imul(rotated(Math.imul(word, UNKEYED.factor), 15), 0x1b873593);
  for (let i = 0; i < pairs; i++) {
    const [first, second] = [Math.imul(i + 1, 0x85ebca6b), ~Math.imul(i + 1, 0xc2b2ae35)];
    const other = [
      wordOf(contribution(first) ^ 0x00040000, UNKEYED),
      wordOf(contribution(second) ^ 0x80000000, UNKEYED),
    ];
    words.set([first, second, ...other], 4 * i);
  }
  return words;
}
