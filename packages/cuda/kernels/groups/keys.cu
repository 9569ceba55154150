// Key columns of integers of one word or two. Blocks of 256.
//
//   key_range    how far keys reach above and below one of them, as signed differences modulo 2^32 or 2^64, and how
//                many rows are no null; `items` rows a thread, one row in `stride`. A block that finds the keys too far
//                apart already, or one of them further away than 31 bits, does nothing. Of a sample (`stride` > 1) no
//                rows are counted
//   narrow_keys  how far keys of two words are above the least one, where that fits a word; what lies under a null
//                becomes any word
#include "../rows.cuh"

namespace warpmap::rows {

/// Where the first 32 rows are nulls, what lies under the first of them is a key as well.
WARPMAP_DEVICE u32 referenceRow(const groups_key_range_arguments& a) {
  if (a.params.keyNullable == 0 || wordsOf(a.keyValidity)[0] == 0) return 0;
  return __ffs(wordsOf(a.keyValidity)[0]) - 1;
}

WARPMAP_DEVICE u64 keyOf(const groups_key_range_arguments& a, u32 row) {
  return a.KEY_WORDS == 2 ? ((const u64*)a.keys.at)[row] : wordsOf(a.keys)[row];
}

WARPMAP_KERNEL(groups_key_range, groups_key_range_arguments, 256) {
  RowControl& control = controlOf(a.control);
  const bool isSparse = loadRelaxed(&control.keysAbove) + loadRelaxed(&control.keysBelow) >= a.params.most ||
                        loadRelaxed(&control.keysFar) != 0;
  if (__syncthreads_or(isSparse)) return;
  const u64 start = u64(blockIdx.x) * 256 * a.params.items + threadIdx.x;
  const u64 reference = keyOf(a, referenceRow(a));
  u32 above = 0, below = 0, rows = 0;
  bool isFar = false;
  for (u32 i = 0; i < a.params.items; i++) {
    const u64 at = start + i * 256;
    if (at >= a.params.count) break;
    const u32 row = u32((a.params.first + at) * a.params.stride);
    if (a.params.keyNullable == 1 && !bitOf(a.keyValidity, row)) continue;
    rows++;
    const u64 key = keyOf(a, row);
    const int difference = int(u32(key) - u32(reference));
    if (a.KEY_WORDS == 2) isFar = isFar || key - reference != u64((long long)difference);
    if (difference < 0) below = max(below, 0 - u32(difference));
    else above = max(above, u32(difference));
  }
  above = __reduce_max_sync(ALL_LANES, above);
  below = __reduce_max_sync(ALL_LANES, below);
  if (laneOf() == 0) {
    raise(&control.keysAbove, above);
    raise(&control.keysBelow, below);
  }
  if (isFar) storeRelaxed(&control.keysFar, 1u);
  if (a.params.stride == 1) addOfBlock(&control.keysCounted, rows);
  if (threadIdx.x == 0) {
    control.keyLower = u32(reference);
    control.keyUpper = u32(reference >> 32);
  }
}

WARPMAP_KERNEL(groups_narrow_keys, groups_narrow_keys_arguments, 256) {
  eachElement(a, [&](u32 row) {
    wordsOf(a.narrowed)[row] = wordsOf(a.keys)[u64(row) * a.KEY_WORDS] - a.params.lowest;
  });
}

}  // namespace warpmap::rows
