// finish-means: sums as float64, rounded to the nearest even, divided by counts, rounded so again: in integers, for
// WGSL has no float64. In the order of the groups. A fragment after total.wgsl. 256 invocations a workgroup, one group
// each. Bytes per group: 4 read, 16 read at random, 8 written.

/// Bits of a quotient: 53, and one to round by.
const QUOTIENT_BITS: u32 = 54u;
/// Steps of a division: a divisor of 32 bits leaves at most so many zeros before the quotient's first one.
const STEPS: u32 = 32u + QUOTIENT_BITS;

/// A number of 53 bits, the highest of which is set and worth 2^exponent.
struct Rounded { bits: vec2u, exponent: u32 }

/// Bits `lowest` and up of 96 bits; lowest < 96.
fn shiftedDown(m: vec3u, lowest: u32) -> vec2u {
  var words = array<u32, 5>(m.x, m.y, m.z, 0u, 0u);
  let word = lowest / 32u;
  let shift = lowest % 32u;
  if (shift == 0u) { return vec2u(words[word], words[word + 1u]); }
  let rest = 32u - shift;
  return vec2u(
    (words[word] >> shift) | (words[word + 1u] << rest),
    (words[word + 1u] >> shift) | (words[word + 2u] << rest),
  );
}

/// Whether one of the lowest `below` bits is set; below < 96.
fn hasBitsBelow(m: vec3u, below: u32) -> bool {
  var found = 0u;
  for (var k = 0u; k < 3u; k++) {
    if (below >= 32u * (k + 1u)) { found |= m[k]; }
    else if (below > 32u * k) { found |= m[k] & ((1u << (below - 32u * k)) - 1u); }
  }
  return found != 0u;
}

/// A number of 53 bits and 1, to the nearest even, of what lies below it.
fn roundedUp(bits: vec2u, exponent: u32, half: bool, rest: bool) -> Rounded {
  if (!half || (!rest && (bits.x & 1u) == 0u)) { return Rounded(bits, exponent); }
  let low = bits.x + 1u;
  let high = bits.y + u32(low == 0u);
  if (high == 0x200000u) { return Rounded(vec2u(0u, 0x100000u), exponent + 1u); }
  return Rounded(vec2u(low, high), exponent);
}

/// m > 0 rounded to 53 bits.
fn rounded(m: vec3u) -> Rounded {
  var highest = firstLeadingBit(m.x);
  if (m.y > 0u) { highest = 32u + firstLeadingBit(m.y); }
  if (m.z > 0u) { highest = 64u + firstLeadingBit(m.z); }
  if (highest > 52u) {
    let below = highest - 52u;
    let half = (shiftedDown(m, below - 1u).x & 1u) == 1u;
    return roundedUp(shiftedDown(m, below), highest, half, hasBitsBelow(m, below - 1u));
  }
  let up = 52u - highest;
  // m has 53 bits at most
  if (up >= 32u) { return Rounded(vec2u(0u, m.x << (up - 32u)), highest); }
  if (up == 0u) { return Rounded(m.xy, highest); }
  return Rounded(vec2u(m.x << up, (m.y << up) | (m.x >> (32u - up))), highest);
}

/// A quotient's float64; the divisor is not 0. Long division, bit by bit.
fn divided(dividend: Rounded, divisor: u32) -> vec2u {
  var remainder = 0u;
  var quotient = vec2u(0u);
  var found = 0u;
  var zeros = 0u;
  for (var step = 0u; step < STEPS && found < QUOTIENT_BITS; step++) {
    var bit = 0u;
    if (step <= 20u) { bit = (dividend.bits.y >> (20u - step)) & 1u; }
    else if (step <= 52u) { bit = (dividend.bits.x >> (52u - step)) & 1u; }
    let overflows = remainder >= 0x80000000u;
    remainder = (remainder << 1u) | bit;
    let fits = overflows || remainder >= divisor;
    if (fits) { remainder -= divisor; }
    quotient = vec2u((quotient.x << 1u) | u32(fits), (quotient.y << 1u) | (quotient.x >> 31u));
    if (fits || found > 0u) { found++; } else { zeros++; }
  }
  let bits = vec2u((quotient.x >> 1u) | (quotient.y << 31u), quotient.y >> 1u);
  // exponents are biased, so that they do not fall below 0
  let exponent = dividend.exponent + 1023u - zeros;
  let result = roundedUp(bits, exponent, (quotient.x & 1u) == 1u, remainder != 0u);
  return vec2u(result.bits.x, (result.bits.y & 0xfffffu) | (result.exponent << 20u));
}

fn meanOf(group: u32) -> vec2u {
  let count = states[group * params.stride];
  let sum = totalOf(group);
  if (count == 0u || (sum.x | sum.y | sum.z) == 0u) { return vec2u(0u); }
  let isNegative = params.form != 0u && sum.z >= 0x80000000u;
  var magnitude = sum;
  if (isNegative) {
    let low = minus(vec2u(0u), sum.xy);
    magnitude = vec3u(low.xy, 0u - sum.z - low.z);
  }
  let mean = divided(rounded(magnitude), count);
  return vec2u(mean.x, mean.y | select(0u, 0x80000000u, isNegative));
}

fn onElement(place: u32) {
  let mean = meanOf(order[place]);
  finished[2u * place] = mean.x;
  finished[2u * place + 1u] = mean.y;
}
