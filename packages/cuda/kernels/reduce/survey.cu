// What a pass over a column tells before others: blocks of 256, of survey_keys up to 1,024, `items` rows a thread.
//
//   survey_values  where the bits of a column's values are: of integers from the lowest place of all, 0, of floats
//                  (FLOATS) from that of the lowest bit that is set. Shares `told`, zeros at first, which only rises:
//                  the greatest place above a value, MOST_PLACES less the lowest one, and 1 where some are infinite or
//                  NaN
//   survey_keys    counts rows by the upper bits of their mixed keys, and different keys of a sample: of those whose
//                  mixed keys end in SAMPLE_BITS zeros, each has a bit of `marks`. Shares the counts, by addition; the
//                  marks, which are only set; the number of keys that found theirs unset; and whether a count is above
//                  `most`: counts are to no purpose then. Does nothing where `phase` is 1 and count_keys has found a
//                  slot for every group
// Bytes per row: a value or a key read.
#include "mixed-keys.cuh"
#include "values.cuh"

namespace warpmap::rows {

/// More than any place.
constexpr u32 MOST_PLACES = 4096;
/// Bits of a key's place among the marks.
constexpr u32 MARK_BITS = 22;
/// Rows whose keys a thread loads at once.
constexpr u32 SURVEY_BATCH = 4;
/// The most bins.
constexpr u32 MOST_BINS = 1u << 14;

/// Bits of an integer, but for its sign.
WARPMAP_DEVICE u32 bitsOfInteger(const Column& column, const Loaded& value) {
  const bool isNegative = column.form == SIGNED && column.plainWord(value, column.words - 1) >= SIGN;
  for (u32 k = column.words; k-- > 0;) {
    const u32 word = column.plainWord(value, k) ^ (isNegative ? 0xffffffffu : 0);
    if (word != 0) return 32 * k + 32 - __clz(int(word));
  }
  return 0;
}

/// The counts of a block, two a word, and what it tells.
struct KeySurvey {
  const reduce_survey_keys_arguments& a;
  u32* counts;
  u32 shift;
  /// A block's counts are half a word each. So many are handed on at once: a count stays below full × (threads ×
  /// SURVEY_BATCH + 1), since a thread hands on what it has made full before it counts the next batch.
  u32 full;
  bool isUneven;

  WARPMAP_DEVICE void addToBin(u32 bin, u32 count) {
    if (atomicAdd(wordsOf(a.starts) + bin, count) + count > a.params.most) isUneven = true;
  }
  /// What the bin's count was, in the block.
  WARPMAP_DEVICE u32 count(u32 mixed) {
    const u32 bin = mixed >> shift, half = (bin & 1) * 16;
    return (atomicAdd(counts + bin / 2, 1u << half) >> half & 0xffff) % full;
  }
  WARPMAP_DEVICE void handOn(u32 mixed) {
    const u32 bin = mixed >> shift;
    atomicSub(counts + bin / 2, full << ((bin & 1) * 16));
    addToBin(bin, full);
  }
  /// Whether the key's mark was not set.
  WARPMAP_DEVICE bool mark(u32 mixed) {
    if ((mixed & ((1u << a.SAMPLE_BITS) - 1)) != 0) return false;
    const u32 at = mixed >> a.SAMPLE_BITS & ((1u << MARK_BITS) - 1);
    const u32 bit = 1u << (at % 32);
    u32* marks = wordsOf(a.marks) + at / 32;
    return (loadRelaxed(marks) & bit) == 0 && (atomicOr(marks, bit) & bit) == 0;
  }
};

WARPMAP_KERNEL(reduce_survey_values, reduce_survey_values_arguments, 256) {
  const Column column(a);
  const u64 start = u64(blockIdx.x) * 256 * a.params.items + threadIdx.x;
  u32 above = 0, below = 0;
  bool isSpecial = false;
  for (u32 i = 0; i < a.params.items; i += SURVEY_BATCH) {
    Loaded batch[SURVEY_BATCH];
#pragma unroll
    for (u32 k = 0; k < SURVEY_BATCH; k++) {
      // the last row again where there is none
      const u64 at = start + (i + k) * 256;
      batch[k] = column.load(a.params.first + u32(at < a.params.count ? at : a.params.count - 1));
    }
#pragma unroll
    for (u32 k = 0; k < SURVEY_BATCH; k++) {
      const Loaded& loaded = batch[k];
      if (column.isNull(loaded)) continue;
      if (!a.FLOATS) {
        above = max(above, bitsOfInteger(column, loaded));
        continue;
      }
      const WholeFloat value = column.wholeFloat(loaded);
      isSpecial = isSpecial || value.marks != 0;
      if (value.significand == 0) continue;
      above = max(above, value.place + 64 - __clzll((long long)value.significand));
      below = max(below, MOST_PLACES - value.place);
    }
  }
  above = __reduce_max_sync(ALL_LANES, above);
  below = __reduce_max_sync(ALL_LANES, below);
  if (laneOf() == 0) {
    raise(wordsOf(a.told), above);
    raise(wordsOf(a.told) + 1, below);
  }
  if (isSpecial) storeRelaxed(wordsOf(a.told) + 2, 1u);
}

WARPMAP_KERNEL(reduce_survey_keys, reduce_survey_keys_arguments, 1024) {
  __shared__ u32 counts[MOST_BINS / 2];
  __shared__ u32 stops;
  RowControl& control = controlOf(a.control);
  if (__syncthreads_or(a.params.phase != 0 && loadRelaxed(&control.keysLeft) == 0)) return;
  for (u32 i = threadIdx.x; i < a.BINS / 2; i += blockDim.x) counts[i] = 0;
  if (threadIdx.x == 0) stops = 0;
  __syncthreads();
  const u32 full = min(31u, 0xffff / (blockDim.x * SURVEY_BATCH + 1));
  KeySurvey survey = {a, counts, 32 - a.BIN_BITS, full, false};
  u32 marked = 0;
  const u64 start = u64(blockIdx.x) * blockDim.x * a.params.items + threadIdx.x;
  for (u32 i = 0; i < a.params.items; i += SURVEY_BATCH) {
    const u64 at = start + u64(i) * blockDim.x;
    if (at >= a.params.count || *(volatile u32*)&stops != 0) break;
    uint2 key[SURVEY_BATCH];
    u32 mixed[SURVEY_BATCH], before[SURVEY_BATCH];
#pragma unroll
    for (u32 k = 0; k < SURVEY_BATCH; k++) {
      // what lies under a null is some key as well
      const u64 own = at + k * blockDim.x;
      key[k] = loadKey(a, a.params.first + u32(own < a.params.count ? own : a.params.count - 1));
    }
#pragma unroll
    for (u32 k = 0; k < SURVEY_BATCH; k++) mixed[k] = mixedKey(a, key[k]);
#pragma unroll
    for (u32 k = 0; k < SURVEY_BATCH; k++) {
      const bool isThere = at + k * blockDim.x < a.params.count;
      before[k] = isThere ? survey.count(mixed[k]) : 0;
      marked += isThere && survey.mark(mixed[k]);
    }
#pragma unroll
    for (u32 k = 0; k < SURVEY_BATCH; k++) {
      if (before[k] == full - 1) survey.handOn(mixed[k]);
    }
    if (survey.isUneven) *(volatile u32*)&stops = 1;
  }
  __syncthreads();
  for (u32 pair = threadIdx.x; pair < a.BINS / 2; pair += blockDim.x) {
    const u32 both = counts[pair];
    if ((both & 0xffff) > 0) survey.addToBin(2 * pair, both & 0xffff);
    if (both >> 16 > 0) survey.addToBin(2 * pair + 1, both >> 16);
  }
  if (survey.isUneven) storeRelaxed(&control.keysUneven, 1u);
  addOfWarp(&control.keysMarked, marked);
}

}  // namespace warpmap::rows
