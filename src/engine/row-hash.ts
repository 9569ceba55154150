/**
 * The hash of a table row, as reference code: MurmurHash3 x86_32 (Appleby, public domain) over the row's words, column
 * after column; a byte string counts as its little-endian 4-byte words, the last one filled with zeros, then its
 * length. Each word is keyed by a seed first (hash-seed.ts). Not finalised: mix the result with `murmur3` of hash.ts
 * before taking slots from it. Row hashes are not visible to users, so engines may use other ones.
 */
import type { Keying } from "./hash-seed.js";

/** One round: folds a 32-bit word into the hash. */
export function foldWord(hash: number, word: number): number {
  let k = Math.imul(word, 0xcc9e2d51);
  k = Math.imul((k << 15) | (k >>> 17), 0x1b873593);
  const h = hash ^ k;
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
}

/** The same of a word that is keyed. */
export function foldKeyed(hash: number, word: number, factor: number, summand: number): number {
  const k = (Math.imul(word, factor) + summand) | 0;
  const h = hash ^ Math.imul((k << 15) | (k >>> 17), 0x1b873593);
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
}

/**
 * Folds the first `width` of each row's `stride` words into `hashes`, which has one element per row; for rows from to
 * to.
 */
export function foldWords(
  hashes: Uint32Array,
  words: Uint32Array,
  stride: number,
  width: number,
  from: number,
  to: number,
  { factor, summand }: Keying,
): void {
  if (width === 2) {
    for (let row = from, at = from * stride; row < to; row++, at += stride) {
      const first = foldKeyed(hashes[row], words[at], factor, summand);
      hashes[row] = foldKeyed(first, words[at + 1], factor, summand);
    }
    return;
  }
  for (let row = from, base = from * stride; row < to; row++, base += stride) {
    let hash = hashes[row];
    for (let k = 0; k < width; k++) hash = foldKeyed(hash, words[base + k], factor, summand);
    hashes[row] = hash;
  }
}

/**
 * Folds one byte string per row into `hashes`; for rows from to to. A row's string is
 * bytes[words[row × stride + offset] .. words[row × stride + offset + 1]).
 */
export function foldStrings(
  hashes: Uint32Array,
  words: Uint32Array,
  stride: number,
  offset: number,
  bytes: Uint8Array,
  from: number,
  to: number,
  { factor, summand }: Keying,
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let row = from, base = from * stride + offset; row < to; row++, base += stride) {
    let hash = hashes[row];
    let at = words[base];
    const end = words[base + 1];
    const length = end - at;
    for (; at + 4 <= end; at += 4) hash = foldKeyed(hash, view.getUint32(at, true), factor, summand);
    if (at < end) {
      let tail = 0;
      for (let shift = 0; at < end; at++, shift += 8) tail |= bytes[at] << shift;
      hash = foldKeyed(hash, tail, factor, summand);
    }
    hashes[row] = foldKeyed(hash, length, factor, summand);
  }
}
