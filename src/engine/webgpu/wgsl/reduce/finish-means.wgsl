// finish-means: sums that are doubles, divided by the count times a unit that is a double; each step rounded to the
// nearest, or even, in integers. In the order of the groups. A fragment after nearest-double.wgsl. 256 invocations a
// workgroup, one group each. Bytes per group: 12 read, 4 read at random, 8 written.

/// Bits of a quotient: 53, and one to round by.
const QUOTIENT_BITS: u32 = 54u;

/// A double's 53 bits, the highest of which is set and has this exponent's field, below 1 that of a subnormal.
struct Significand { bits: vec2u, field: i32 }

fn shiftedUp(bits: vec2u, by: u32) -> vec2u {
  if (by >= 32u) { return vec2u(0u, bits.x << (by - 32u)); }
  return vec2u(bits.x << by, (bits.y << by) | ((bits.x >> 1u) >> (31u - by)));
}

/// Of a double that is a number, and not 0.
fn significandOf(double: vec2u) -> Significand {
  let field = extractBits(double.y, 20u, 11u);
  let fraction = vec2u(double.x, double.y & 0xfffffu);
  if (field > 0u) { return Significand(fraction | vec2u(0u, 0x100000u), i32(field)); }
  let highest = select(firstLeadingBit(fraction.x), 32u + firstLeadingBit(fraction.y), fraction.y > 0u);
  return Significand(shiftedUp(fraction, 52u - highest), i32(highest) - 51);
}

fn isLess(a: vec2u, b: vec2u) -> bool { return a.y < b.y || (a.y == b.y && a.x < b.x); }

/// The divisor is a number above 0. Long division, bit by bit.
fn quotient(dividend: vec2u, divisor: vec2u) -> vec2u {
  let sign = dividend.y & SIGN;
  let high = dividend.y ^ sign;
  if (high >= INFINITY || (high | dividend.x) == 0u) { return dividend; }
  let a = significandOf(dividend);
  let b = significandOf(divisor);
  let isBelowOne = isLess(a.bits, b.bits);
  var rest = shiftedUp(a.bits, u32(isBelowOne));
  var bits = vec2u(0u);
  for (var i = 0u; i < QUOTIENT_BITS; i++) {
    let fits = !isLess(rest, b.bits);
    if (fits) { rest = vec2u(rest.x - b.bits.x, rest.y - b.bits.y - u32(rest.x < b.bits.x)); }
    bits = shiftedUp(bits, 1u) | vec2u(u32(fits), 0u);
    rest = shiftedUp(rest, 1u);
  }
  return packed(bits, any(rest != vec2u(0u)), a.field - b.field + 1023 - i32(isBelowOne), sign);
}

/// A product of 64 bits.
fn product(a: u32, b: u32) -> vec2u {
  let low = (a & 0xffffu) * (b & 0xffffu);
  let middle = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
  let other = (a & 0xffffu) * (b >> 16u) + (middle & 0xffffu);
  return vec2u((other << 16u) | (low & 0xffffu), (a >> 16u) * (b >> 16u) + (middle >> 16u) + (other >> 16u));
}

/// A count times a double that is a number above 0.
fn times(count: u32, double: vec2u) -> vec2u {
  let factor = significandOf(double);
  let low = product(count, factor.bits.x);
  let high = product(count, factor.bits.y);
  var m: Magnitude;
  m[0] = low.x;
  m[1] = low.y + high.x;
  m[2] = high.y + u32(m[1] < high.x);
  return nearest(m, factor.field - 52, 0u);
}

fn onElement(place: u32) {
  let count = states[order[place] * params.stride];
  var mean = vec2u(0u);
  if (count > 0u) { mean = quotient(sums[place], times(count, vec2u(params.unitLow, params.unitHigh))); }
  finished[2u * place] = mean.x;
  finished[2u * place + 1u] = mean.y;
}
