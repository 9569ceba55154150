// Sums of doubles in integers, bit for bit those of IEEE 754: every double becomes a number of fixed point whose places
// the largest exponent of a sum decides; these are added in any order, and the sum is rounded once, to nearest even. A
// fragment without bindings.
//
// A double is its low and its high word. Its place: m × 2^(e − 1075) with m < 2^53, where e is the exponent's field, or
// 1 of a subnormal. A sum has SUM_WORDS words in two's complement; bit 0 stands for 2^(top − MARGIN − 1075), where
// `top` is the largest e. So 2^32 doubles do not overflow it, and of each no more is dropped than bits below 2^−MARGIN
// of the last place of the largest. What is dropped of one of two doubles is less than a quarter of the last place, and
// changes no sum of two.

const SUM_WORDS: u32 = 5u;
/// 160 bits, without a sign, 32 for as many doubles, and 53.
const MARGIN: u32 = 74u;
/// The top of a sum with an infinity or a NaN. 0 is that of a sum of which every double is −0.
const NO_NUMBER: u32 = 2047u;
const NAN: vec2u = vec2u(0u, 0x7ff80000u);
const NEGATIVE_ZERO: vec2u = vec2u(0u, 0x80000000u);

alias Sum = array<u32, SUM_WORDS>;

/// Three words of a sum, from word `first` on.
struct Part { first: u32, words: array<u32, 3> }

fn isNegative(double: vec2u) -> bool { return (double.y >> 31u) == 1u; }

/// What a double asks of a sum's top, at least.
fn topOf(double: vec2u) -> u32 {
  if (all(double == NEGATIVE_ZERO)) { return 0u; }
  return max(extractBits(double.y, 20u, 11u), 1u);
}

/// The upper of two words shifted left by less than 32.
fn upperShifted(upper: u32, lower: u32, by: u32) -> u32 { return (upper << by) | ((lower >> 1u) >> (31u - by)); }

/// The magnitude of a number in a sum with this top.
fn partOf(double: vec2u, top: u32) -> Part {
  let field = extractBits(double.y, 20u, 11u);
  var low = double.x;
  var high = (double.y & 0xfffffu) | (u32(field > 0u) << 20u);
  let below = top - max(field, 1u);
  if (below <= MARGIN) {
    let by = (MARGIN - below) % 32u;
    let words = array<u32, 3>(low << by, upperShifted(high, low, by), upperShifted(0u, high, by));
    return Part((MARGIN - below) / 32u, words);
  }
  let dropped = below - MARGIN;
  if (dropped >= 32u) {
    low = high;
    high = 0u;
  }
  if (dropped >= 64u) { low = 0u; }
  let by = dropped % 32u;
  return Part(0u, array<u32, 3>((low >> by) | ((high << 1u) << (31u - by)), high >> by, 0u));
}

fn bitsAt(sum: Sum, at: u32) -> u32 {
  let word = at / 32u;
  let lower = select(0u, sum[min(word, SUM_WORDS - 1u)], word < SUM_WORDS);
  let upper = select(0u, sum[min(word + 1u, SUM_WORDS - 1u)], word + 1u < SUM_WORDS);
  return (lower >> (at % 32u)) | ((upper << 1u) << (31u - at % 32u));
}

/// The double nearest to a sum of numbers.
fn rounded(words: Sum, top: u32) -> vec2u {
  var sum = words;
  let negative = (sum[SUM_WORDS - 1u] >> 31u) == 1u;
  var carry = u32(negative);
  var first = 32u * SUM_WORDS;
  var last = 0u;
  for (var i = 0u; i < SUM_WORDS; i++) {
    if (negative) {
      sum[i] = ~sum[i] + carry;
      carry &= u32(sum[i] == 0u);
    }
    if (sum[i] == 0u) { continue; }
    first = min(first, i * 32u + countTrailingZeros(sum[i]));
    last = i * 32u + firstLeadingBit(sum[i]);
  }
  if (first == 32u * SUM_WORDS) { return select(vec2u(), NEGATIVE_ZERO, top == 0u); }
  // 53 bits, or down to the last place of subnormals
  let drop = max(i32(last) - 52, i32(MARGIN) + 1 - i32(top));
  var low: u32;
  var high: u32;
  if (drop <= 0) {
    let by = u32(-drop);
    low = select(sum[0] << (by % 32u), 0u, by >= 32u);
    high = select(upperShifted(sum[1], sum[0], by % 32u), sum[0] << (by % 32u), by >= 32u);
  } else {
    low = bitsAt(sum, u32(drop));
    high = bitsAt(sum, u32(drop) + 32u);
    let half = u32(drop) - 1u;
    if ((bitsAt(sum, half) & 1u) == 1u && (first < half || (low & 1u) == 1u)) {
      low++;
      high += u32(low == 0u);
    }
  }
  // the 53rd bit, or a carry out of it, counts the exponent up
  high += u32(i32(top) - i32(MARGIN) + drop - 1) << 20u;
  if (high >= 0x7ff00000u) {
    low = 0u;
    high = 0x7ff00000u;
  }
  return vec2u(low, high | (u32(negative) << 31u));
}
