/**
 * The hash functions of byte strings, as reference code in TypeScript: hash-bytes.wgsl is the same arithmetic. A string of any length is
 * hashed by the full function, tail and all: MurmurHash3_x86_32 (Appleby, public domain) or XXH32 (Collet).
 */
import { murmur3 } from "./hash.js";
import { foldWord } from "./row-hash.js";

/** MurmurHash3_x86_32 of bytes from..to of a view. */
export function murmur3Bytes(view: DataView, from: number, to: number, seed: number): number {
  let h = seed | 0;
  let at = from;
  for (; at + 4 <= to; at += 4) h = foldWord(h, view.getInt32(at, true));
  if (at < to) {
    let k = Math.imul(tailWord(view, at, to - at), 0xcc9e2d51);
    k = Math.imul((k << 15) | (k >>> 17), 0x1b873593);
    h ^= k;
  }
  return murmur3(h ^ (to - from));
}

const PRIME1 = 0x9e3779b1;
const PRIME2 = 0x85ebca77;
const PRIME3 = 0xc2b2ae3d;
const PRIME4 = 0x27d4eb2f;
const PRIME5 = 0x165667b1;

/** XXH32 of bytes from..to of a view. */
export function xxhash32Bytes(view: DataView, from: number, to: number, seed: number): number {
  let at = from;
  let h = (seed + PRIME5) | 0;
  if (to - from >= 16) {
    let a = (seed + PRIME1 + PRIME2) | 0;
    let b = (seed + PRIME2) | 0;
    let c = seed | 0;
    let d = (seed - PRIME1) | 0;
    for (; at + 16 <= to; at += 16) {
      a = lane(a, view.getInt32(at, true));
      b = lane(b, view.getInt32(at + 4, true));
      c = lane(c, view.getInt32(at + 8, true));
      d = lane(d, view.getInt32(at + 12, true));
    }
    h = (rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18)) | 0;
  }
  h = (h + (to - from)) | 0;
  for (; at + 4 <= to; at += 4) {
    h = Math.imul(rotate((h + Math.imul(view.getInt32(at, true), PRIME3)) | 0, 17), PRIME4);
  }
  for (; at < to; at++) h = Math.imul(rotate((h + Math.imul(view.getUint8(at), PRIME5)) | 0, 11), PRIME1);
  h = Math.imul(h ^ (h >>> 15), PRIME2);
  h = Math.imul(h ^ (h >>> 13), PRIME3);
  return (h ^ (h >>> 16)) >>> 0;
}

function lane(sum: number, word: number): number {
  return Math.imul(rotate((sum + Math.imul(word, PRIME2)) | 0, 13), PRIME1);
}

function rotate(x: number, bits: number): number {
  return (x << bits) | (x >>> (32 - bits));
}

/** The last `count` bytes of a string, 1 to 3, as a word filled up with zeros. */
export function tailWord(view: DataView, at: number, count: number): number {
  if (at + 4 <= view.byteLength) return view.getInt32(at, true) & (-1 >>> (32 - 8 * count));
  let word = 0;
  for (let k = 0; k < count; k++) word |= view.getUint8(at + k) << (8 * k);
  return word;
}
