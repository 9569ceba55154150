// Mixed keys of rows. A key of one word follows from it, one of two words from it and its upper word.
#pragma once
#include "../rows.cuh"

namespace warpmap::rows {

/// A row's key, its upper word 0 where it has one alone. Read without a branch.
template <class Arguments> WARPMAP_DEVICE uint2 loadKey(const Arguments& a, u32 row) {
  const u32* from = wordsOf(a.keys) + (a.WIDE_KEYS ? 2 * u64(row) : row);
  uint2 key = {from[0], 0};
  if (a.WIDE_KEYS) key.y = from[1];
  return key;
}

template <class Arguments> WARPMAP_DEVICE u32 mixedKey(const Arguments& a, const uint2& key) {
  return keyedHash(a, a.WIDE_KEYS ? key.x ^ keyedHash(a, key.y) : key.x);
}

}  // namespace warpmap::rows
