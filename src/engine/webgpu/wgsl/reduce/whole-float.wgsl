// Floats as whole numbers times powers of two. A fragment after values.wgsl.

/// Not 0: of what an infinity or a NaN makes a sum.
const POSITIVE_INFINITY: u32 = 1u;
const NEGATIVE_INFINITY: u32 = 2u;
const HAS_NAN: u32 = 4u;

/// A number of two words without trailing zeros, times 2^(place − the places of its width: summands.ts).
struct WholeFloat { low: u32, high: u32, place: u32, isNegative: bool, marks: u32 }

/// The lowest word of a float, and the highest.
fn floatBits(row: u32) -> vec2u { return vec2u(plainWord(row, 0u), plainWord(row, params.words - 1u)); }

fn wholeFloat(bits: vec2u) -> WholeFloat {
  let top = bits.y;
  let isWide = params.words > 1u;
  let rest = select(0u, bits.x, isWide);
  let isNegative = top >= SIGN;
  let magnitude = top & ~SIGN;
  let fractionBits = countTrailingZeros(params.infinity);
  let field = magnitude >> fractionBits;
  let fraction = magnitude & ((1u << fractionBits) - 1u);
  if (magnitude >= params.infinity) {
    let infinity = select(POSITIVE_INFINITY, NEGATIVE_INFINITY, isNegative);
    return WholeFloat(0u, 0u, 0u, false, select(infinity, HAS_NAN, (fraction | rest) != 0u));
  }
  let upper = fraction | (u32(field > 0u) << fractionBits);
  let low = select(upper, rest, isWide);
  let high = select(0u, upper, isWide);
  let zeros = select(countTrailingZeros(low), 32u + countTrailingZeros(high), low == 0u);
  let place = max(field, 1u) + zeros;
  let by = zeros % 32u;
  if (zeros >= 32u) { return WholeFloat(high >> by, 0u, place, isNegative, 0u); }
  return WholeFloat((low >> by) | ((high << 1u) << (31u - by)), high >> by, place, isNegative, 0u);
}
