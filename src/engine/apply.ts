/**
 * What an insert does to the value of a key that is there already, as reference code on bit patterns. Engines
 * that fold in other languages (WGSL) must give the same bits; a test compares them.
 *
 * Floats: `min` and `max` go by the total order of bit patterns: -NaN < -inf < … < −0 < +0 < … < +inf < +NaN.
 * `add` rounds once, to nearest even; a NaN sum is stored as the canonical NaN, because hardware disagrees on NaN
 * payloads.
 *
 * Values of 64 bits are two words, the low one first. Composite values are kept or assigned, and nothing else.
 */
import type { ValueType } from "./element-types.js";
import type { InsertPolicy } from "./engine.js";
import { CANONICAL_NAN, CANONICAL_NAN_HIGH } from "./float-keys.js";

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
      return isFloat(type) ? Rule.addFloat : Rule.addInteger;
    case "min":
      return isFloat(type) ? Rule.minFloat : isSigned(type) ? Rule.minSigned : Rule.minUnsigned;
    case "max":
      return isFloat(type) ? Rule.maxFloat : isSigned(type) ? Rule.maxSigned : Rule.maxUnsigned;
    default:
      return Rule[policy];
  }
}

/** True for the types of floating-point numbers. */
export function isFloat(type: ValueType): boolean {
  return type === "f32" || type === "f64";
}

function isSigned(type: ValueType): boolean {
  return type === "i32" || type === "i64";
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

/**
 * Combines the value of two words at `to[t]` with that at `from[f]`, as `combine` does it for values of one word: in
 * place. The rule is none that keeps or assigns.
 */
export function combinePair(rule: number, to: Uint32Array, t: number, from: Uint32Array, f: number): void {
  switch (rule) {
    case Rule.addInteger: {
      const low = to[t] + from[f];
      to[t] = low;
      to[t + 1] += from[f + 1] + (low > 0xffffffff ? 1 : 0);
      return;
    }
    case Rule.addFloat:
      addDoubles(to, t, from, f);
      return;
    case Rule.and:
      to[t] &= from[f];
      to[t + 1] &= from[f + 1];
      return;
    case Rule.or:
      to[t] |= from[f];
      to[t + 1] |= from[f + 1];
      return;
    case Rule.xor:
      to[t] ^= from[f];
      to[t + 1] ^= from[f + 1];
      return;
    default: {
      const wantsLess = rule === Rule.minUnsigned || rule === Rule.minSigned || rule === Rule.minFloat;
      const isTaken = wantsLess ? isLess(rule, from, f, to, t) : isLess(rule, to, t, from, f);
      if (!isTaken) return;
      to[t] = from[f];
      to[t + 1] = from[f + 1];
    }
  }
}

/** Whether a[i] is less than b[j], in the order of the rule's type. */
function isLess(rule: number, a: Uint32Array, i: number, b: Uint32Array, j: number): boolean {
  let [aHigh, bHigh] = [a[i + 1], b[j + 1]];
  let [aLow, bLow] = [a[i], b[j]];
  if (rule === Rule.minSigned || rule === Rule.maxSigned) {
    aHigh = (aHigh ^ 0x80000000) >>> 0;
    bHigh = (bHigh ^ 0x80000000) >>> 0;
  } else if (rule === Rule.minFloat || rule === Rule.maxFloat) {
    // of two negative numbers the one with the greater magnitude is less
    if (aHigh >>> 31) aLow = ~aLow >>> 0;
    if (bHigh >>> 31) bLow = ~bLow >>> 0;
    aHigh = floatOrder(aHigh);
    bHigh = floatOrder(bHigh);
  }
  return aHigh === bHigh ? aLow < bLow : aHigh < bHigh;
}

const doubles = new Float64Array(2);
const doubleBits = new Uint32Array(doubles.buffer);

function addDoubles(to: Uint32Array, t: number, from: Uint32Array, f: number): void {
  doubleBits[0] = to[t];
  doubleBits[1] = to[t + 1];
  doubleBits[2] = from[f];
  doubleBits[3] = from[f + 1];
  doubles[0] += doubles[1];
  const hasNoValue = Number.isNaN(doubles[0]);
  to[t] = hasNoValue ? 0 : doubleBits[0];
  to[t + 1] = hasNoValue ? CANONICAL_NAN_HIGH : doubleBits[1];
}
