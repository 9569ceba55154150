/**
 * The hash functions of byte strings, as reference code in TypeScript: hash-bytes.wgsl is the same arithmetic. A string
 * of any length is hashed by the full function, tail and all: MurmurHash3_x86_32 (Appleby, public domain), or XXH32
 * (Collet), which is xxh32.ts.
 */
import { murmur3 } from "./hash.js";
import { UNKEYED } from "./hash-seed.js";
import { foldKeyed } from "./row-hash.js";

/**
 * MurmurHash3_x86_32 of bytes from..to of a view, whose words are keyed if factor and summand are those of a seed
 * (hash-seed.ts).
 */
export function murmur3Bytes(
  view: DataView,
  from: number,
  to: number,
  start: number,
  factor = UNKEYED.factor,
  summand = 0,
): number {
  let h = start | 0;
  let at = from;
  for (; at + 4 <= to; at += 4) h = foldKeyed(h, view.getInt32(at, true), factor, summand);
  if (at < to) {
    let k = (Math.imul(tailWord(view, at, to - at), factor) + summand) | 0;
    k = Math.imul((k << 15) | (k >>> 17), 0x1b873593);
    h ^= k;
  }
  return murmur3(h ^ (to - from));
}

/** The last `count` bytes of a string, 1 to 3, as a word filled up with zeros. */
export function tailWord(view: DataView, at: number, count: number): number {
  if (at + 4 <= view.byteLength) return view.getInt32(at, true) & (-1 >>> (32 - 8 * count));
  let word = 0;
  for (let k = 0; k < count; k++) word |= view.getUint8(at + k) << (8 * k);
  return word;
}
