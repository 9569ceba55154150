// Values of a column of numbers: as words whose order, from the highest down, is that of the values; and as integers
// that are added up, so that sums are exact (gpu/reduce/summands.ts).
#pragma once
#include "../rows.cuh"

namespace warpmap::rows {

constexpr u32 SIGN = 0x80000000u;

/// How a column's values are read: `FORMS` of gpu/reduce/column-params.ts.
enum Form : u32 { UNSIGNED = 0, SIGNED = 1, FLOAT = 2 };

/// Not 0: of what an infinity or a NaN makes a sum.
enum Mark : u32 { POSITIVE_INFINITY = 1, NEGATIVE_INFINITY = 2, HAS_NAN = 4 };

/// A number without trailing zeros, times 2^(place − the places of its width: summands.ts).
struct WholeFloat {
  u64 significand;
  u32 place;
  bool isNegative;
  u32 marks;
};

/// What is read of a row's value: the word that has it, or its first two, and the word of its validity bit. It is read
/// without a branch, so that the loads of several rows are on their way at once.
struct Loaded {
  u32 row;
  u32 low;
  u32 high;
  u32 valid;
};

/// A column, as a launch tells of it.
struct Column {
  const u32* data;
  const u32* validity;
  u32 bits, words, form, infinity;
  /// The logarithm of the values in a word.
  u32 inWord;

  WARPMAP_DEVICE static u32 valuesInWord(u32 bits) { return bits >= 32 ? 0 : __clz(int(bits)) - 26; }

  template <class Arguments>
  WARPMAP_DEVICE explicit Column(const Arguments& a)
      : data(wordsOf(a.data)),
        validity(a.params.nullable == 1 ? wordsOf(a.validity) : nullptr),
        bits(a.params.bits),
        words(a.params.words),
        form(a.params.form),
        infinity(a.params.infinity),
        inWord(valuesInWord(bits)) {}

  WARPMAP_DEVICE Loaded load(u32 row) const {
    const u32* from = data + (bits >= 32 ? u64(row) * words : row >> inWord);
    Loaded loaded = {row, 0, 0, 0xffffffffu};
    if (data != nullptr) loaded.low = from[0];
    if (data != nullptr && words > 1) loaded.high = from[1];
    if (validity != nullptr) loaded.valid = validity[row / 32];
    return loaded;
  }
  WARPMAP_DEVICE bool isNull(const Loaded& value) const { return (value.valid >> (value.row % 32) & 1) == 0; }

  /// Word k of a value as it is; a value of less than a word extended by its sign, halves moved to the upper end.
  WARPMAP_DEVICE u32 plainWord(const Loaded& value, u32 k) const {
    if (bits >= 32) return k == 0 ? value.low : k == 1 ? value.high : data[u64(value.row) * words + k];
    const u32 at = value.row & ((1u << inWord) - 1);
    const u32 top = value.low << (32 - bits - at * bits) & (0u - (1u << (32 - bits)));
    if (form == FLOAT) return top;
    return form == SIGNED ? u32(int(top) >> (32 - bits)) : top >> (32 - bits);
  }

  /// Word k of a value in order: signed integers are shifted up by half of their range; of floats −0 becomes 0 and
  /// every NaN the greatest value.
  WARPMAP_DEVICE u32 orderedWord(const Loaded& value, u32 k) const {
    const bool isTop = k + 1 == words;
    const u32 word = plainWord(value, k);
    if (form != FLOAT) return form == SIGNED && isTop ? word ^ SIGN : word;
    const u32 high = words > 1 ? value.high : plainWord(value, 0), rest = words > 1 ? value.low : 0;
    const u32 magnitude = high & ~SIGN;
    if (magnitude > infinity || (magnitude == infinity && rest != 0)) return 0xffffffffu;
    if ((magnitude | rest) == 0) return isTop ? SIGN : 0;
    if (high >= SIGN) return ~word;
    return isTop ? word | SIGN : word;
  }

  WARPMAP_DEVICE WholeFloat wholeFloat(const Loaded& value) const {
    const u32 top = words > 1 ? value.high : plainWord(value, 0);
    const u64 rest = words > 1 ? value.low : 0;
    const bool isNegative = top >= SIGN;
    const u32 magnitude = top & ~SIGN;
    const u32 fractionBits = __ffs(int(infinity)) - 1;
    const u32 field = magnitude >> fractionBits;
    const u32 fraction = magnitude & ((1u << fractionBits) - 1);
    if (magnitude >= infinity) {
      const u32 mark = isNegative ? NEGATIVE_INFINITY : POSITIVE_INFINITY;
      return {0, 0, false, (fraction | rest) != 0 ? u32(HAS_NAN) : mark};
    }
    const u64 upper = fraction | u32(field > 0) << fractionBits;
    const u64 whole = words > 1 ? upper << 32 | rest : upper;
    if (whole == 0) return {0, max(field, 1u), isNegative, 0};
    const u32 zeros = __ffsll((long long)whole) - 1;
    return {whole >> zeros, max(field, 1u) + zeros, isNegative, 0};
  }
};

/// Words of an integer that is added up, at most (gpu/reduce/summands.ts). Kernels are made for MOST of them: 1, 2, 3,
/// or any number, which the launch says.
constexpr u32 ANY_WORDS = 9;
template <u32 MOST> WARPMAP_DEVICE u32 wordsIn(u32 told) { return MOST < ANY_WORDS ? MOST : told; }

/// An integer that is added up. None is negative: signed ones are shifted up by half of the range of its words, which
/// `Total` takes back.
template <u32 MOST> struct Addend {
  u32 word[MOST];
};

/// What is added up of a row: floats as multiples of 2^lowest, infinities and NaN as 0.
template <u32 MOST>
WARPMAP_DEVICE Addend<MOST> addendOf(const Column& column, const Loaded& loaded, u32 lowest, u32 words) {
  Addend<MOST> addend;
  if (column.form == FLOAT) {
    const WholeFloat value = column.wholeFloat(loaded);
    // of 0 and of what is no number, only the significand counts
    const u32 shift = value.significand == 0 ? 0 : value.place - lowest;
    const u32 first = shift / 32, by = shift % 32;
    const u64 low = value.significand << by;
    const u32 high = by == 0 ? 0 : u32(value.significand >> (64 - by));
    u32 carry = 1;
#pragma unroll
    for (u32 k = 0; k < MOST; k++) {
      u32 word = k == first ? u32(low) : k == first + 1 ? u32(low >> 32) : k == first + 2 ? high : 0;
      if (value.isNegative) {
        word = ~word + carry;
        carry &= word == 0;
      }
      addend.word[k] = word;
    }
  } else {
#pragma unroll
    for (u32 k = 0; k < MOST; k++) addend.word[k] = k < words ? column.plainWord(loaded, k) : 0;
  }
#pragma unroll
  for (u32 k = 0; k < MOST; k++) {
    if (k + 1 == words && column.form != UNSIGNED) addend.word[k] ^= SIGN;
  }
  return addend;
}

/// Adds an integer of so many words, and `top` above it, to words in memory, the lowest first and `step` apart: an
/// addition's carry is known from the word that it found, so no two additions need to be one.
template <u32 MOST>
WARPMAP_DEVICE void addWords(u32* to, u32 step, const Addend<MOST>& addend, u32 words, u32 top = 0) {
  u32 carry = 0;
#pragma unroll
  for (u32 k = 0; k < MOST; k++) {
    if (k >= words) break;
    const u32 amount = addend.word[k] + carry;
    carry = amount < carry;
    if (amount > 0) carry += atomicAdd(to + k * step, amount) > ~amount;
  }
  if (top + carry > 0) atomicAdd(to + words * step, top + carry);
}

/// Defines a kernel for words that are added up: `body<most>(a)`.
#define WARPMAP_KERNELS_OF_WORDS(name, arguments, threads, body)                 \
  WARPMAP_KERNEL(name##_1, arguments, threads) { body<1>(a); }                   \
  WARPMAP_KERNEL(name##_2, arguments, threads) { body<2>(a); }                   \
  WARPMAP_KERNEL(name##_3, arguments, threads) { body<3>(a); }                   \
  WARPMAP_KERNEL(name##_any, arguments, threads) { body<ANY_WORDS>(a); }

}  // namespace warpmap::rows
