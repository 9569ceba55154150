/**
 * XXH32, a 32-bit hash function of the xxHash family (github.com/Cyan4973/xxHash, doc/xxhash_spec.md). As a checksum it finds damage, and
 * guards against no one who means harm. About a byte a clock in JavaScript.
 */
const [P1, P2, P3, P4, P5] = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1];

const rotate = (x: number, by: number) => (x << by) | (x >>> (32 - by));

const lane = (sum: number, word: number) => Math.imul(rotate((sum + Math.imul(word, P2)) | 0, 13), P1);

/** The checksum of some bytes: with seed 0. */
export function xxh32(bytes: Uint8Array): number {
  return xxh32Of(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length, 0);
}

/** The hash of bytes from..to of a view. */
export function xxh32Of(view: DataView, from: number, to: number, seed: number): number {
  let at = from;
  let hash = (seed + P5) | 0;
  if (to - from >= 16) {
    let [a, b, c, d] = [(seed + P1 + P2) | 0, (seed + P2) | 0, seed | 0, (seed - P1) | 0];
    for (; at + 16 <= to; at += 16) {
      a = lane(a, view.getInt32(at, true));
      b = lane(b, view.getInt32(at + 4, true));
      c = lane(c, view.getInt32(at + 8, true));
      d = lane(d, view.getInt32(at + 12, true));
    }
    hash = (rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18)) | 0;
  }
  hash = (hash + (to - from)) | 0;
  for (; at + 4 <= to; at += 4) {
    hash = Math.imul(rotate((hash + Math.imul(view.getInt32(at, true), P3)) | 0, 17), P4);
  }
  for (; at < to; at++) hash = Math.imul(rotate((hash + Math.imul(view.getUint8(at), P5)) | 0, 11), P1);
  hash = Math.imul(hash ^ (hash >>> 15), P2);
  hash = Math.imul(hash ^ (hash >>> 13), P3);
  return (hash ^ (hash >>> 16)) >>> 0;
}
