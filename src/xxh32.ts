/**
 * XXH32, the 32-bit checksum of the xxHash family (github.com/Cyan4973/xxHash, doc/xxhash_spec.md), with seed 0: it finds damage, and
 * guards against no one who means harm. About a byte a clock in JavaScript.
 */
const [P1, P2, P3, P4, P5] = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1];

const rotate = (x: number, by: number) => (x << by) | (x >>> (32 - by));

/** The checksum of some bytes. */
export function xxh32(bytes: Uint8Array): number {
  const { length } = bytes;
  const view = new DataView(bytes.buffer, bytes.byteOffset, length);
  let at = 0;
  let hash = P5;
  if (length >= 16) {
    let [a, b, c, d] = [(P1 + P2) | 0, P2, 0, -P1 | 0];
    for (; at + 16 <= length; at += 16) {
      a = Math.imul(rotate((a + Math.imul(view.getUint32(at, true), P2)) | 0, 13), P1);
      b = Math.imul(rotate((b + Math.imul(view.getUint32(at + 4, true), P2)) | 0, 13), P1);
      c = Math.imul(rotate((c + Math.imul(view.getUint32(at + 8, true), P2)) | 0, 13), P1);
      d = Math.imul(rotate((d + Math.imul(view.getUint32(at + 12, true), P2)) | 0, 13), P1);
    }
    hash = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
  }
  hash = (hash + length) | 0;
  for (; at + 4 <= length; at += 4) {
    hash = Math.imul(rotate((hash + Math.imul(view.getUint32(at, true), P3)) | 0, 17), P4);
  }
  for (; at < length; at++) hash = Math.imul(rotate((hash + Math.imul(bytes[at], P5)) | 0, 11), P1);
  hash = Math.imul(hash ^ (hash >>> 15), P2);
  hash = Math.imul(hash ^ (hash >>> 13), P3);
  return (hash ^ (hash >>> 16)) >>> 0;
}
