/**
 * Keys for tests: unique without a set to check against, colliding by construction, and every bit pattern that an engine
 * might be tempted to use as a sentinel.
 */
import { type BijectionName, drawn, murmur3 } from "../../../src/engine/hash.js";
import { arrayClass, type Scalar, type ScalarArrays } from "../../../src/engine/scalars.js";

/** `count` distinct keys that look random. Ranges `from .. from + count` that do not overlap give disjoint keys. */
export function uniqueKeys(count: number, from = 0): Uint32Array {
  const keys = new Uint32Array(count);
  for (let i = 0; i < count; i++) keys[i] = murmur3(from + i);
  return keys;
}

/** `uniqueKeys` that share none with `uniqueKeys(n)`, for n up to 2^31. */
export function absentKeys(count: number): Uint32Array {
  return uniqueKeys(count, 0x80000000);
}

/** start, start + 1, … */
export function counting(count: number, start = 0): Uint32Array {
  return Uint32Array.from({ length: count }, (_, i) => start + i);
}

/** `count` keys whose home is slot `home` of a table with `slots` slots and this seed: what whoever knows it can choose. */
export function keysWithHome(
  home: number,
  slots: number,
  count: number,
  hash: BijectionName = "murmur3",
  seed = 0,
): Uint32Array {
  const first = Math.ceil((home * 2 ** 32) / slots);
  if (first + count > Math.ceil(((home + 1) * 2 ** 32) / slots))
    throw new RangeError("a slot has no more hashes");
  const { multiplier, offset } = seed === 0 ? { multiplier: 1, offset: 0 } : drawn(seed);
  const unkeyed = (word: number) => Math.imul(word - offset, inverse(multiplier));
  return Uint32Array.from({ length: count }, (_, i) => unkeyed(unhash[hash](first + i)));
}

/** The key that has a given hash. */
export const unhash: { readonly [N in BijectionName]: (hash: number) => number } = {
  murmur3(hash) {
    let h = unshift(hash, 16);
    h = unshift(Math.imul(h, inverse(0xc2b2ae35)), 13);
    return unshift(Math.imul(h, inverse(0x85ebca6b)), 16) >>> 0;
  },
  xxhash32(hash) {
    let h = unshift(hash, 16);
    h = unshift(Math.imul(h, inverse(0xc2b2ae3d)), 13);
    h = unshift(Math.imul(h, inverse(0x85ebca77)), 15);
    h = Math.imul(h, inverse(0x27d4eb2f));
    h = (h >>> 17) | (h << 15);
    return Math.imul(h - 0x165667b1 - 4, inverse(0xc2b2ae3d)) >>> 0;
  },
  identity: (hash) => hash >>> 0,
};

/** x from x ^ (x >>> bits), for bits above 10. */
function unshift(x: number, bits: number): number {
  return x ^ (x >>> bits) ^ (2 * bits < 32 ? x >>> (2 * bits) : 0);
}

/** The number that times `odd` is 1 modulo 2^32 (Newton; every step doubles the bits that are right). */
function inverse(odd: number): number {
  let x = odd;
  for (let i = 0; i < 5; i++) x = Math.imul(x, 2 - Math.imul(odd, x));
  return x;
}

/** Bit patterns near 0, near 0x80000000 and near 0xffffffff: the patterns that mark EMPTY and TOMBSTONE are among them. */
export const edgePatterns: Uint32Array = Uint32Array.from([
  ...counting(6),
  ...counting(9, 0x7ffffffc),
  ...counting(6, 0xfffffffa),
]);

/** The patterns whose first use as a key or value in a table would break an engine that reserves them. */
export const sentinelPatterns: Uint32Array = Uint32Array.of(0xffffffff, 0xfffffffe, 0);

/** The f32 bit patterns that are not ordinary numbers: zeros, infinities, denormals, quiet and signalling NaNs. */
export const oddFloats: Uint32Array = Uint32Array.of(
  0x00000000,
  0x80000000,
  0x7f800000,
  0xff800000,
  0x00000001,
  0x80000001,
  0x007fffff,
  0x7f7fffff,
  0x7fc00000,
  0xffc00000,
  0x7f800001,
  0xffffffff,
  0xfffffffe,
);

/** The same bits as elements of another type. */
export function fromBits<T extends Scalar>(type: T, bits: Uint32Array): ScalarArrays[T] {
  return new arrayClass[type](bits.buffer, bits.byteOffset, bits.length) as ScalarArrays[T];
}

/** Integers as elements of a type, by value; exact for f32 up to 2^24. */
export function numbers<T extends Scalar>(type: T, values: ArrayLike<number>): ScalarArrays[T] {
  const array = fromBits(type, new Uint32Array(values.length));
  for (let i = 0; i < values.length; i++) array[i] = values[i];
  return array;
}

/** One number as a type stores it: integers wrap. */
export function fromNumber<T extends Scalar>(type: T, value: number): ScalarArrays[T] {
  return numbers(type, [value]);
}

/** Types of 32 bits. */
export const types = ["u32", "i32", "f32"] as const satisfies readonly Scalar[];
export const hashes: readonly BijectionName[] = ["murmur3", "xxhash32", "identity"];

/** 1 for two elements out of three. */
export const maskOf = (count: number) => Uint8Array.from({ length: count }, (_, i) => Number(i % 3 !== 1));
