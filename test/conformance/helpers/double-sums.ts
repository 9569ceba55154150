/** Doubles added up as the webgpu engine does it, on bigints: exactly, down to 74 bits below the last place of the largest, and rounded once. */

const KEPT_BELOW = 74;
const words = new DataView(new ArrayBuffer(8));

/** A finite double as mantissa × 2^(exponent − 1075). */
function partsOf(value: number): { exponent: number; mantissa: bigint } {
  words.setFloat64(0, Math.abs(value));
  const field = words.getUint16(0) >> 4;
  const fraction = words.getBigUint64(0) & (2n ** 52n - 1n);
  return { exponent: Math.max(field, 1), mantissa: field > 0 ? fraction + 2n ** 52n : fraction };
}

/** The sum of doubles, rounded once to nearest even, whatever their order. */
export function sumOnce(values: readonly number[]): number {
  const odd = new Set(values.filter((value) => !Number.isFinite(value)));
  if (odd.size > 0) return odd.size === 1 ? ([...odd][0] as number) : Number.NaN;
  if (values.every((value) => Object.is(value, -0))) return -0;
  const parts = values.map(partsOf);
  const top = Math.max(...parts.map(({ exponent }) => exponent));
  const total = values.reduce((sum, value, i) => {
    const { exponent, mantissa } = parts[i];
    const kept = (mantissa << BigInt(KEPT_BELOW)) >> BigInt(Math.min(top - exponent, 200));
    return value < 0 ? sum - kept : sum + kept;
  }, 0n);
  // the sum is total × 2^scale; doubles have no bits below 2^-1074
  const scale = top - 1075 - KEPT_BELOW;
  const below = -1074 - scale;
  const magnitude = total < 0n ? -total : total;
  const sign = total < 0n ? -1 : 1;
  // Number() rounds a bigint once, to nearest even; scaling a result that is no subnormal is exact
  if (below > 0 && magnitude < 2n ** BigInt(53 + below))
    return sign * withoutBits(magnitude, BigInt(below)) * Number.MIN_VALUE;
  const first = Math.max(scale, -500);
  return sign * Number(magnitude) * 2 ** first * 2 ** (scale - first);
}

/** A bigint without so many bits, rounded to nearest even. */
function withoutBits(value: bigint, bits: bigint): number {
  const kept = value >> bits;
  const twice = (value - (kept << bits)) * 2n;
  const unit = 1n << bits;
  return Number(twice > unit || (twice === unit && kept % 2n === 1n) ? kept + 1n : kept);
}
