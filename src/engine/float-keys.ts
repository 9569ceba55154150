/** Bit patterns of f64 keys. Those of f32 keys are in scalars.ts. */

/** Upper word of the pattern that all f64 NaN keys are stored as; the lower one is 0. */
export const CANONICAL_NAN_HIGH = 0x7ff80000;

/**
 * Upper word under which an `f64` key is stored and compared, as `canonicalF32` has it for f32 keys. The lower word is 0 where this
 * is CANONICAL_NAN_HIGH, else it stays.
 */
export function canonicalF64High(low: number, high: number): number {
  if (high === 0x80000000 && low === 0) return 0;
  const magnitude = high & 0x7fffffff;
  return magnitude > 0x7ff00000 || (magnitude === 0x7ff00000 && low !== 0) ? CANONICAL_NAN_HIGH : high;
}
