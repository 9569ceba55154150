/**
 * XXH32, a 32-bit hash function of the xxHash family (github.com/Cyan4973/xxHash, doc/xxhash_spec.md). As a checksum it
 * finds damage, and guards against no one who means harm. About a byte a clock in JavaScript.
 */
const [P1, P2, P3, P4, P5] = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1];

const rotate = (x: number, by: number) => (x << by) | (x >>> (32 - by));

const lane = (sum: number, word: number) => Math.imul(rotate((sum + Math.imul(word, P2)) | 0, 13), P1);

/** The checksum of some bytes: with seed 0. */
export function xxh32(bytes: Uint8Array): number {
  return xxh32Of(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length, 0);
}

/** The hash of bytes from..to of a view, of which each word counts as multiplier × word + offset. */
export function xxh32Of(
  view: DataView,
  from: number,
  to: number,
  seed: number,
  multiplier = 1,
  offset = 0,
): number {
  const wordAt = (at: number) => (Math.imul(view.getInt32(at, true), multiplier) + offset) | 0;
  let at = from;
  let hash = (seed + P5) | 0;
  if (to - from >= 16) {
    let [a, b, c, d] = [(seed + P1 + P2) | 0, (seed + P2) | 0, seed | 0, (seed - P1) | 0];
    for (; at + 16 <= to; at += 16) {
      a = lane(a, wordAt(at));
      b = lane(b, wordAt(at + 4));
      c = lane(c, wordAt(at + 8));
      d = lane(d, wordAt(at + 12));
    }
    hash = (rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18)) | 0;
  }
  hash = (hash + (to - from)) | 0;
  for (; at + 4 <= to; at += 4) {
    hash = Math.imul(rotate((hash + Math.imul(wordAt(at), P3)) | 0, 17), P4);
  }
  for (; at < to; at++) {
    const byte = (Math.imul(view.getUint8(at), multiplier) + offset) | 0;
    hash = Math.imul(rotate((hash + Math.imul(byte, P5)) | 0, 11), P1);
  }
  hash = Math.imul(hash ^ (hash >>> 15), P2);
  hash = Math.imul(hash ^ (hash >>> 13), P3);
  return (hash ^ (hash >>> 16)) >>> 0;
}
