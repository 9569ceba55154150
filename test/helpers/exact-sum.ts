/** The oracle of sums of floats: the exact sum of doubles, rounded once to nearest even, as Python's `math.fsum`. */

/** The sum of doubles: NaN if one is NaN or both infinities are there; never −0. */
export function exactSum(values: Iterable<number>): number {
  let sum = 0n;
  let special = 0;
  for (const value of values) {
    if (Number.isFinite(value)) sum += wholeOf(value);
    else special = special === 0 ? value : special + value;
  }
  if (special !== 0) return special;
  return sum < 0n ? -nearest(-sum) : nearest(sum);
}

/** A double as a multiple of the least one above 0. */
function wholeOf(value: number): bigint {
  const [bits] = new BigUint64Array(Float64Array.of(value).buffer);
  const field = (bits >> 52n) & 0x7ffn;
  const fraction = bits & 0xfffffffffffffn;
  const whole = field === 0n ? fraction : (fraction | (1n << 52n)) << (field - 1n);
  return value < 0 ? -whole : whole;
}

function nearest(whole: bigint): number {
  const shift = Math.max(0, whole.toString(2).length - 53);
  const below = whole & ((1n << BigInt(shift)) - 1n);
  const half = shift === 0 ? 1n : 1n << BigInt(shift - 1);
  let kept = whole >> BigInt(shift);
  if (below > half || (below === half && (kept & 1n) === 1n)) kept++;
  // 53 bits times a power of two: nothing is rounded here
  return Number(kept) * 2 ** (shift - 1074);
}
