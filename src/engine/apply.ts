/**
 * What an insert does to the value of a key that is there already, as reference code on bit patterns. Engines
 * that fold in other languages (WGSL) must give the same bits; a test compares them.
 *
 * Floats: `min` and `max` go by the total order of bit patterns: -NaN < -inf < … < −0 < +0 < … < +inf < +NaN.
 * `add` rounds once, to nearest even; a NaN sum is stored as CANONICAL_NAN, because hardware disagrees on NaN
 * payloads.
 */
import type { InsertPolicy } from "./engine.js";
import { CANONICAL_NAN, type ValueType } from "./scalars.js";

/** A policy together with the type it works on, as one number for hot loops. */
export const Rule = {
  keep: 0,
  assign: 1,
  addInteger: 2,
  addFloat: 3,
  minUnsigned: 4,
  maxUnsigned: 5,
  minSigned: 6,
  maxSigned: 7,
  minFloat: 8,
  maxFloat: 9,
  and: 10,
  or: 11,
  xor: 12,
} as const;

/** The rule of an insert policy for a value type. Sets (`type` null) have no values, so they keep. */
export function ruleOf(policy: InsertPolicy, type: ValueType | null): number {
  if (type === null) return Rule.keep;
  switch (policy) {
    case "add":
      return type === "f32" ? Rule.addFloat : Rule.addInteger;
    case "min":
      return type === "f32" ? Rule.minFloat : type === "i32" ? Rule.minSigned : Rule.minUnsigned;
    case "max":
      return type === "f32" ? Rule.maxFloat : type === "i32" ? Rule.maxSigned : Rule.maxUnsigned;
    default:
      return Rule[policy];
  }
}

/**
 * The bits to store where `stored` was and `incoming` comes. Both and the result are unsigned 32-bit
 * patterns.
 */
export function combine(rule: number, stored: number, incoming: number): number {
  switch (rule) {
    case Rule.assign:
      return incoming;
    case Rule.addInteger:
      return (stored + incoming) >>> 0;
    case Rule.addFloat:
      return addFloats(stored, incoming);
    case Rule.minUnsigned:
      return incoming < stored ? incoming : stored;
    case Rule.maxUnsigned:
      return incoming > stored ? incoming : stored;
    case Rule.minSigned:
      return (incoming | 0) < (stored | 0) ? incoming : stored;
    case Rule.maxSigned:
      return (incoming | 0) > (stored | 0) ? incoming : stored;
    case Rule.minFloat:
      return floatOrder(incoming) < floatOrder(stored) ? incoming : stored;
    case Rule.maxFloat:
      return floatOrder(incoming) > floatOrder(stored) ? incoming : stored;
    case Rule.and:
      return (stored & incoming) >>> 0;
    case Rule.or:
      return (stored | incoming) >>> 0;
    case Rule.xor:
      return (stored ^ incoming) >>> 0;
    default:
      return stored;
  }
}

/** An unsigned number that orders f32 bit patterns as IEEE 754's totalOrder does. */
export function floatOrder(bits: number): number {
  return (bits >>> 31 ? ~bits : bits | 0x80000000) >>> 0;
}

const floats = new Float32Array(2);
const floatBits = new Uint32Array(floats.buffer);

/**
 * Sum of two f32 patterns: the double sum of two floats is exact enough that rounding it once to f32 is the
 * f32 sum.
 */
function addFloats(a: number, b: number): number {
  floatBits[0] = a;
  floatBits[1] = b;
  const sum = Math.fround(floats[0] + floats[1]);
  if (Number.isNaN(sum)) return CANONICAL_NAN;
  floats[0] = sum;
  return floatBits[0];
}
