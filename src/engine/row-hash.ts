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

/** Folds the first `width` of each row's `stride` words into `hashes`, which has one element per row; for rows from to to. */
export function foldWords(
  hashes: Uint32Array,
  words: Uint32Array,
  stride: number,
  width: number,
  from: number,
  to: number,
): void {
  if (width === 2) {
    for (let row = from, at = from * stride; row < to; row++, at += stride) {
      hashes[row] = foldWord(foldWord(hashes[row], words[at]), words[at + 1]);
    }
    return;
  }
  for (let row = from, base = from * stride; row < to; row++, base += stride) {
    let hash = hashes[row];
    for (let k = 0; k < width; k++) hash = foldWord(hash, words[base + k]);
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
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let row = from, base = from * stride + offset; row < to; row++, base += stride) {
    let hash = hashes[row];
    let at = words[base];
    const end = words[base + 1];
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
