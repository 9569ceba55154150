// States of groups as results, in the order of the groups: place i is that of group order[i]. Blocks of 256, a group a
// thread (finish_validity: 32 groups).
//
//   finish_rows      the rows that raise has found, NO_ROW for a group without one
//   finish_counts    counts as 64-bit integers
//   finish_validity  a bitmap of the groups that have values
//   finish_sums      sums as integers of `size` words. Where they are those of decimals (`isLimited`), one with more
//                    than 38 digits, or of 8 words 76, sets control.sumsLeft
//   finish_doubles   sums as doubles, rounded once
//   finish_means     sums that are doubles, divided by the count times a unit that is a double; each step rounded to
//                    the nearest, or even
// Bytes per group: 4 read, the state read at random, and the result written.
#include "values.cuh"

namespace warpmap::rows {

template <class Arguments> WARPMAP_DEVICE const u32* stateAt(const Arguments& a, u32 place) {
  return wordsOf(a.states) + u64(wordsOf(a.order)[place]) * a.params.stride;
}

/// The sum of a state: words + 1 words in two's complement, extended by its sign.
struct Total {
  u32 word[ANY_WORDS + 1];

  WARPMAP_DEVICE Total(const u32* state, u32 words, u32 form) {
    // every value was larger by half of its range
    const u64 less = form == UNSIGNED ? 0 : u64(state[0]) << 31;
    const u64 top = (u64(state[1 + words]) << 32 | state[words]) - less;
    const u32 sign = top >> 63 ? 0xffffffffu : 0;
#pragma unroll
    for (u32 k = 0; k <= ANY_WORDS; k++) {
      word[k] = k + 1 < words ? state[1 + k] : k + 1 == words ? u32(top) : k == words ? u32(top >> 32) : sign;
    }
  }
  WARPMAP_DEVICE bool isNegative() const { return word[ANY_WORDS] >= SIGN; }
  WARPMAP_DEVICE void negate() {
    u32 carry = 1;
#pragma unroll
    for (u32 k = 0; k <= ANY_WORDS; k++) {
      word[k] = ~word[k] + carry;
      carry &= word[k] == 0;
    }
  }
};

/// The double nearest to a magnitude whose lowest bit has the exponent field `lowest`, of two equally near ones the
/// even; 0 has no sign.
WARPMAP_DEVICE u64 nearestDouble(const Total& magnitude, int lowest, bool isNegative) {
  // the 64 bits from the highest one on, and whether any below them is set
  u64 top = 0;
  bool isInexact = false;
  int highest = -1;
#pragma unroll
  for (int k = ANY_WORDS; k >= 0; k--) {
    const u32 word = magnitude.word[k];
    if (highest < 0) {
      if (word == 0) continue;
      highest = 32 * k + 31 - __clz(int(word));
      top = u64(word) << (32 + __clz(int(word)));
      continue;
    }
    const int down = highest - 32 * k - 63;
    // the word's lowest bit goes to bit −down of `top`
    if (down <= 0) top |= u64(word) << -down;
    else if (down < 32) {
      top |= word >> down;
      isInexact = isInexact || (word & ((1u << down) - 1)) != 0;
    } else isInexact = isInexact || word != 0;
  }
  if (highest < 0) return 0;
  const u64 sign = u64(isNegative) << 63;
  const int field = lowest + highest;
  if (field > 2046) return sign | 0x7ff0000000000000ull;
  if (field < -52) return sign;
  // subnormal doubles have fewer bits than 53
  const int down = 11 + (field < 1 ? 1 - field : 0);
  const bool isHalf = top >> (down - 1) & 1;
  isInexact = isInexact || (top & ((1ull << (down - 1)) - 1)) != 0;
  u64 bits = down == 64 ? 0 : top >> down;
  if (isHalf && (isInexact || (bits & 1) != 0)) bits++;
  // the 53rd bit, or a carry out of it, counts the field up
  return sign | (bits + (u64(max(field, 1) - 1) << 52));
}

/// Powers of ten that decimals of four words, and of eight, stay below.
WARPMAP_DEVICE u32 limitWord(u32 size, u32 k) {
  constexpr u32 FOUR[4] = {0x00000000u, 0x098a2240u, 0x5a86c47au, 0x4b3b4ca8u};
  constexpr u32 EIGHT[8] = {0x00000000u, 0x00000000u, 0x71951000u, 0x7775a5f1u, 0xe8652979u, 0x0764b4abu, 0x119915b5u, 0x161bcca7u};
  return k >= size ? 0 : size == 4 ? FOUR[k % 4] : EIGHT[k];
}

/// Whether a sum's magnitude has more digits than a decimal of `size` words.
WARPMAP_DEVICE bool isBeyond(Total sum, u32 size) {
  if (sum.isNegative()) sum.negate();
  bool isLess = false;
  // up from the lowest word: the highest that differs decides
#pragma unroll
  for (u32 k = 0; k <= ANY_WORDS; k++) {
    const u32 limit = limitWord(size, k);
    if (sum.word[k] != limit) isLess = sum.word[k] < limit;
  }
  return !isLess;
}

WARPMAP_KERNEL(reduce_finish_rows, reduce_finish_rows_arguments, 256) {
  eachElement(a, [&](u32 place) {
    const u32 found = wordsOf(a.states)[u64(a.params.base) + wordsOf(a.order)[place]];
    // of no row, 0, both make NO_ROW
    wordsOf(a.finished)[place] = a.params.latest == 1 ? found - 1 : ~found;
  });
}

WARPMAP_KERNEL(reduce_finish_counts, reduce_finish_counts_arguments, 256) {
  eachElement(a, [&](u32 place) { ((u64*)a.finished.at)[place] = *stateAt(a, place); });
}

WARPMAP_KERNEL(reduce_finish_validity, reduce_finish_validity_arguments, 256) {
  eachElement(a, [&](u32 word) {
    u32 bits = 0;
    for (u32 i = 0; i < 32 && word * 32 + i < a.params.groups; i++) bits |= u32(*stateAt(a, word * 32 + i) > 0) << i;
    wordsOf(a.finished)[word] = bits;
  });
}

WARPMAP_KERNEL(reduce_finish_sums, reduce_finish_sums_arguments, 256) {
  eachElement(a, [&](u32 place) {
    const Total sum(stateAt(a, place), a.WORDS, a.params.form);
    u32* to = wordsOf(a.finished) + u64(place) * a.params.size;
#pragma unroll
    for (u32 k = 0; k <= ANY_WORDS; k++) {
      if (k < a.params.size) to[k] = sum.word[k];
    }
    for (u32 k = ANY_WORDS + 1; k < a.params.size; k++) to[k] = sum.word[ANY_WORDS];
    if (a.params.isLimited == 1 && isBeyond(sum, a.params.size)) storeRelaxed(&controlOf(a.control).sumsLeft, 1u);
  });
}

WARPMAP_KERNEL(reduce_finish_doubles, reduce_finish_doubles_arguments, 256) {
  eachElement(a, [&](u32 place) {
    const u32* state = stateAt(a, place);
    u64* to = (u64*)a.finished.at + place;
    // a word behind the sum has marks
    const u32 marks = a.params.stride > a.WORDS + 2 ? state[a.WORDS + 2] : 0;
    if (marks != 0) {
      const u64 infinity = 0x7ff0000000000000ull | u64(marks == NEGATIVE_INFINITY) << 63;
      *to = marks > NEGATIVE_INFINITY ? 0x7ff8000000000000ull : infinity;
      return;
    }
    Total sum(state, a.WORDS, a.params.form);
    const bool isNegative = sum.isNegative();
    if (isNegative) sum.negate();
    *to = nearestDouble(sum, int(a.params.exponent), isNegative);
  });
}

WARPMAP_KERNEL(reduce_finish_means, reduce_finish_means_arguments, 256) {
  eachElement(a, [&](u32 place) {
    const u32 count = *stateAt(a, place);
    const double sum = ((const double*)a.sums.at)[place];
    const u64 bits = ((const u64*)a.sums.at)[place], magnitude = bits & ~(1ull << 63);
    u64 mean = 0;
    if (count > 0) {
      const double unit = __longlong_as_double((long long)(u64(a.params.unitHigh) << 32 | a.params.unitLow));
      // what is no number, and 0, stay as they are
      const bool isDivided = magnitude != 0 && magnitude < 0x7ff0000000000000ull;
      mean = isDivided ? u64(__double_as_longlong(sum / (double(count) * unit))) : bits;
    }
    ((u64*)a.finished.at)[place] = mean;
  });
}

}  // namespace warpmap::rows
