// The double nearest to a whole number times a power of two, of two equally near ones the even: in integers, for WGSL
// has no doubles. A fragment. A double is its low and its high word.

const SIGN: u32 = 0x80000000u;
const INFINITY: u32 = 0x7ff00000u;
const MAGNITUDE_WORDS: u32 = WORDS + 2u;

/// Has room for a sum, and for a count times the 53 bits of a double.
alias Magnitude = array<u32, MAGNITUDE_WORDS>;

/// The double of 54 bits, the highest of which is set and has this exponent's field, below 1 that of a subnormal; the
/// lowest is worth half of the last place. `rest`: something lies below.
fn packed(bits: vec2u, rest: bool, field: i32, sign: u32) -> vec2u {
  if (field > 2046) { return vec2u(0u, sign | INFINITY); }
  if (field < -52) { return vec2u(0u, sign); }
  var low = bits.x;
  var high = bits.y;
  var isInexact = rest;
  if (field < 1) {
    let by = u32(1 - field);
    if (by >= 32u) {
      isInexact = isInexact || low != 0u;
      low = high;
      high = 0u;
    }
    let shift = by % 32u;
    isInexact = isInexact || (low & ((1u << shift) - 1u)) != 0u;
    low = (low >> shift) | ((high << 1u) << (31u - shift));
    high >>= shift;
  }
  let isHalf = (low & 1u) == 1u;
  low = (low >> 1u) | (high << 31u);
  high >>= 1u;
  if (isHalf && (isInexact || (low & 1u) == 1u)) {
    low++;
    high += u32(low == 0u);
  }
  // the 53rd bit, or a carry out of it, counts the field up
  return vec2u(low, (high + (u32(max(field, 1) - 1) << 20u)) | sign);
}

/// 32 bits from bit `at` on.
fn bitsFrom(m: Magnitude, at: u32) -> u32 {
  let word = at / 32u;
  let by = at % 32u;
  let lower = select(0u, m[min(word, MAGNITUDE_WORDS - 1u)], word < MAGNITUDE_WORDS);
  let upper = select(0u, m[min(word + 1u, MAGNITUDE_WORDS - 1u)], word + 1u < MAGNITUDE_WORDS);
  return (lower >> by) | ((upper << 1u) << (31u - by));
}

/// Of a magnitude whose lowest bit has this exponent's field; 0 has no sign.
fn nearest(m: Magnitude, exponent: i32, sign: u32) -> vec2u {
  var highest = EMPTY;
  var lowest = EMPTY;
  for (var k = 0u; k < MAGNITUDE_WORDS; k++) {
    if (m[k] == 0u) { continue; }
    lowest = min(lowest, 32u * k + countTrailingZeros(m[k]));
    highest = 32u * k + firstLeadingBit(m[k]);
  }
  if (highest == EMPTY) { return vec2u(0u); }
  let field = exponent + i32(highest);
  if (highest >= 53u) {
    let at = highest - 53u;
    return packed(vec2u(bitsFrom(m, at), bitsFrom(m, at + 32u)), lowest < at, field, sign);
  }
  let up = 53u - highest;
  if (up >= 32u) { return packed(vec2u(0u, m[0] << (up - 32u)), false, field, sign); }
  return packed(vec2u(m[0] << up, (m[1] << up) | ((m[0] >> 1u) >> (31u - up))), false, field, sign);
}
