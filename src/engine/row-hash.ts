/**
 * The hash of a table row, as reference code: MurmurHash3 x86_32 (Appleby, public domain) over the row's words, column
 * after column; a byte string counts as its little-endian 4-byte words, the last one filled with zeros, then its length.
 * Not finalised: mix the result with `murmur3` of hash.ts before taking slots from it. Row hashes are not visible to
 * users, so engines may use other ones.
 */

/** One round: folds a 32-bit word into the hash. */
export function foldWord(hash: number, word: number): number {
  let k = Math.imul(word, 0xcc9e2d51);
  k = Math.imul((k << 15) | (k >>> 17), 0x1b873593);
  const h = hash ^ k;
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
}

/** Folds `width` words of each row from `from` to `to` into `hashes`, which has one element per row. */
export function foldWords(
  hashes: Uint32Array,
  words: Uint32Array,
  width: number,
  from: number,
  to: number,
): void {
  if (width === 2) {
    for (let row = from; row < to; row++) {
      hashes[row] = foldWord(foldWord(hashes[row], words[2 * row]), words[2 * row + 1]);
    }
    return;
  }
  for (let row = from, at = from * width; row < to; row++) {
    let hash = hashes[row];
    for (let k = 0; k < width; k++) hash = foldWord(hash, words[at++]);
    hashes[row] = hash;
  }
}

/** Byte strings to hash: value i is bytes[starts[i] .. ends[i]). */
interface Strings {
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly bytes: Uint8Array;
}

/** Folds one byte string per row from `from` to `to` into `hashes`. */
export function foldStrings(hashes: Uint32Array, strings: Strings, from: number, to: number): void {
  const { starts, ends, bytes } = strings;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let row = from; row < to; row++) {
    let hash = hashes[row];
    let at = starts[row];
    const end = ends[row];
    const length = end - at;
    for (; at + 4 <= end; at += 4) hash = foldWord(hash, view.getUint32(at, true));
    if (at < end) {
      let tail = 0;
      for (let shift = 0; at < end; at++, shift += 8) tail |= bytes[at] << shift;
      hash = foldWord(hash, tail);
    }
    hashes[row] = foldWord(hash, length);
  }
}
