// Exclusive prefix sums of words in place, by tiles of 2,048: `scan` sums up the words of each tile, and notes the
// tile's sum; the host has the sums scanned the same way, and `scan_add` adds them. Blocks of 256, eight words a
// thread. Bytes per word: 4 read and 4 written, each.
#include "../rows.cuh"

namespace warpmap::rows {

constexpr u32 SCAN_ITEMS = 8;
constexpr u32 SCAN_TILE = 256 * SCAN_ITEMS;

/// A thread's words of the tile, neighbours of each other; 0 behind the last one.
struct ScanWords {
  u32 word[SCAN_ITEMS];

  WARPMAP_DEVICE ScanWords(const u32* words, u64 first, u32 total) {
    if (first + SCAN_ITEMS <= total) {
      const uint4 low = *(const uint4*)(words + first), high = *(const uint4*)(words + first + 4);
      const u32 all[SCAN_ITEMS] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
      for (u32 i = 0; i < SCAN_ITEMS; i++) word[i] = all[i];
    } else {
#pragma unroll
      for (u32 i = 0; i < SCAN_ITEMS; i++) word[i] = first + i < total ? words[first + i] : 0;
    }
  }
  WARPMAP_DEVICE void store(u32* words, u64 first, u32 total) const {
    if (first + SCAN_ITEMS <= total) {
      *(uint4*)(words + first) = {word[0], word[1], word[2], word[3]};
      *(uint4*)(words + first + 4) = {word[4], word[5], word[6], word[7]};
    } else {
      for (u32 i = 0; i < SCAN_ITEMS && first + i < total; i++) words[first + i] = word[i];
    }
  }
};

WARPMAP_KERNEL(groups_scan, groups_scan_arguments, 256) {
  const u64 tile = blockIdx.x, first = tile * SCAN_TILE + threadIdx.x * SCAN_ITEMS;
  ScanWords words(wordsOf(a.words), first, a.params.total);
  u32 sum = 0;
#pragma unroll
  for (u32 i = 0; i < SCAN_ITEMS; i++) sum += words.word[i];
  const Prefix prefix = blockPrefix(sum);
  u32 before = prefix.before;
#pragma unroll
  for (u32 i = 0; i < SCAN_ITEMS; i++) {
    const u32 word = words.word[i];
    words.word[i] = before;
    before += word;
  }
  words.store(wordsOf(a.words), first, a.params.total);
  if (threadIdx.x == 0 && tile * SCAN_TILE < a.params.total) wordsOf(a.tileSums)[tile] = prefix.total;
}

WARPMAP_KERNEL(groups_scan_add, groups_scan_add_arguments, 256) {
  const u64 tile = blockIdx.x, first = tile * SCAN_TILE + threadIdx.x * SCAN_ITEMS;
  if (first >= a.params.total) return;
  const u32 sum = wordsOf(a.tileSums)[tile];
  ScanWords words(wordsOf(a.words), first, a.params.total);
#pragma unroll
  for (u32 i = 0; i < SCAN_ITEMS; i++) words.word[i] += sum;
  words.store(wordsOf(a.words), first, a.params.total);
}

}  // namespace warpmap::rows
