/**
 * Floats in keys: the bits under which they are hashed, compared and stored. −0 becomes +0 and every NaN one NaN, so
 * that keys are equal exactly when JavaScript's `Map` says so (SameValueZero). Tables, lists, sketches and joins on
 * every engine go by this.
 */
import type { FloatInKey } from "./element-types.js";

/** Bit pattern that all NaN of one word are stored as. */
export const CANONICAL_NAN = 0x7fc00000;
/** Upper word of the pattern that all NaN of two words are stored as; the lower one is 0. */
export const CANONICAL_NAN_HIGH = 0x7ff80000;

/** Bit pattern under which an f32 of a key is stored and compared. */
export function canonicalF32(bits: number): number {
  if (bits === 0x80000000) return 0;
  return (bits & 0x7fffffff) > 0x7f800000 ? CANONICAL_NAN : bits;
}

/**
 * Upper word under which an f64 of a key is stored and compared. The lower word is 0 where this is CANONICAL_NAN_HIGH,
 * else it stays.
 */
function canonicalF64High(low: number, high: number): number {
  if (high === 0x80000000 && low === 0) return 0;
  const magnitude = high & 0x7fffffff;
  return magnitude > 0x7ff00000 || (magnitude === 0x7ff00000 && low !== 0) ? CANONICAL_NAN_HIGH : high;
}

/** Gives the first `count` keys of `keyWords` words their canonical bits, in place. */
export function canonicalise(
  keys: Uint32Array,
  keyWords: number,
  floats: readonly FloatInKey[],
  count: number,
): void {
  const end = count * keyWords;
  for (const { at, words } of floats) {
    if (words === 1) for (let i = at; i < end; i += keyWords) keys[i] = canonicalF32(keys[i]);
    else for (let i = at; i < end; i += keyWords) canonicaliseF64(keys, i);
  }
}

function canonicaliseF64(keys: Uint32Array, at: number): void {
  const high = canonicalF64High(keys[at], keys[at + 1]);
  keys[at + 1] = high;
  if (high === CANONICAL_NAN_HIGH) keys[at] = 0;
}
