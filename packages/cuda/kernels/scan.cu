// retrieve and statistics: what goes over all slots of a table. Blocks of 256, tiles of 4,096 slots, grid-stride.
//
// retrieve writes all entries, in no order, to `keys` and `values` (null for sets; either may be null), each block's
// next to each other behind a cursor in `control`; COUNT entries have room. statistics adds up entries, tombstones and
// probe lengths. Nothing changes the table meanwhile. Bytes per slot of u32 → u32: 8 read; per entry 8 written.
#include "batch.cuh"

namespace warpmap {

constexpr u32 SLOTS_A_THREAD = 16;
constexpr u32 SLOT_TILE = BLOCK * SLOTS_A_THREAD;
constexpr u32 WARPS = BLOCK / 32;

/// Exclusive sums of the counts of all rows of 32 slots of a tile, in place; room for the block's entries is taken.
/// Answers the number of the block's first entry.
WARPMAP_DEVICE u32 placeRows(u32 (&rows)[SLOTS_A_THREAD * WARPS], Control& control) {
  static_assert(SLOTS_A_THREAD * WARPS == 4 * 32, "a warp has four rows a lane");
  __shared__ u32 first;
  __syncthreads();
  if (threadIdx.x < 32) {
    u32 mine[4], sum = 0;
    for (u32 r = 0; r < 4; r++) {
      mine[r] = sum;
      sum += rows[threadIdx.x * 4 + r];
    }
    u32 before = sum;
    for (u32 step = 1; step < 32; step *= 2) {
      const u32 other = __shfl_up_sync(ALL_LANES, before, step);
      if (threadIdx.x >= step) before += other;
    }
    if (threadIdx.x == 31) first = before > 0 ? atomicAdd(&control.listed, before) : 0;
    before -= sum;
    for (u32 r = 0; r < 4; r++) rows[threadIdx.x * 4 + r] = before + mine[r];
  }
  __syncthreads();
  return first;
}

template <int K, int V> WARPMAP_DEVICE void storeEntry(const Table<K, V>& table, const retrieve_arguments& a, u64 slot,
                                                       typename Table<K, V>::Word word, u32 to) {
  using Slots = typename Table<K, V>::Slots;
  if (a.keys.at != nullptr) Slots::storeKey(table.shape(), a.keys.at, to, table.keyIn(slot, word));
  if (a.values.at == nullptr) return;
  if constexpr (K < 0) {
    const WideShape& shape = table.shape();
    const u32* from = (const u32*)table.at(slot) + shape.valueOffset;
    for (u32 w = 0; w < shape.valueWords; w++) ((u32*)a.values.at)[u64(to) * shape.valueWords + w] = from[w];
  } else if constexpr (V > 0) {
    ((typename Slots::Value*)a.values.at)[to] = Slots::valueAtRest(table.shape(), table.at(slot), word);
  }
}

template <int K, int V> WARPMAP_DEVICE void retrieveBatch(const retrieve_arguments& a) {
  using T = Table<K, V>;
  const T table(a);
  __shared__ u32 rows[SLOTS_A_THREAD * WARPS];
  const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (u64 tile = u64(blockIdx.x) * SLOT_TILE; tile < table.allSlots(); tile += u64(gridDim.x) * SLOT_TILE) {
    typename T::Word words[SLOTS_A_THREAD];
    u32 entries = 0;
#pragma unroll
    for (u32 item = 0; item < SLOTS_A_THREAD; item++) {
      const u64 slot = tile + item * BLOCK + threadIdx.x;
      words[item] = slot < table.allSlots() ? *(const typename T::Word*)table.at(slot) : typename T::Word(~0ull);
      entries |= u32(table.hasEntry(words[item])) << item;
    }
    u32 ranks[SLOTS_A_THREAD];
#pragma unroll
    for (u32 item = 0; item < SLOTS_A_THREAD; item++) {
      const u32 row = __ballot_sync(ALL_LANES, entries >> item & 1);
      ranks[item] = __popc(row & ((1u << lane) - 1));
      if (lane == 0) rows[item * WARPS + warp] = __popc(row);
    }
    const u32 first = placeRows(rows, table.control());
#pragma unroll
    for (u32 item = 0; item < SLOTS_A_THREAD; item++) {
      const u32 to = first + rows[item * WARPS + warp] + ranks[item];
      if ((entries >> item & 1) && to < a.COUNT) storeEntry<K, V>(table, a, tile + item * BLOCK + threadIdx.x, words[item], to);
    }
    __syncthreads();
  }
}

/// What `statistics` counts; the host zeroes it.
struct Statistics {
  u32 live;
  u32 tombstones;
  u32 longest;
  u32 pad;
  u64 sum;
  u32 lengths[256];
};

template <int K, int V> WARPMAP_DEVICE void statisticsBatch(const statistics_arguments& a) {
  using T = Table<K, V>;
  const T table(a);
  Statistics& to = *(Statistics*)a.histogram.at;
  __shared__ u32 lengths[256];
  lengths[threadIdx.x] = 0;
  const BlockCounts<2> counts;
  u32 live = 0, tombstones = 0, longest = 0;
  u64 sum = 0;
  const u64 stride = u64(gridDim.x) * BLOCK;
  for (u64 slot = u64(blockIdx.x) * BLOCK + threadIdx.x; slot < table.allSlots(); slot += stride) {
    const typename T::Word word = table.look(slot);
    const bool isSide = slot >= table.slotCount();
    tombstones += !isSide && T::Slots::isTombstone(word);
    if (!table.hasEntry(word)) continue;
    u32 length = 1;
    if (!isSide) {
      u32 home;
      if constexpr (K < 0) home = homeSlot(word << 1, table.slotCount());
      else home = homeSlot(table.hash(T::Slots::keyOf(word)), table.slotCount());
      length += u32(slot >= home ? slot - home : slot + table.slotCount() - home);
    }
    live++;
    sum += length;
    longest = length > longest ? length : longest;
    atomicAdd(&lengths[(length < 256 ? length : 256) - 1], 1u);
  }
  counts.addAll(0, live);
  counts.addAll(1, tombstones);
  counts.flush({&to.live, &to.tombstones});
  const u32 most = __reduce_max_sync(ALL_LANES, longest);
  if (threadIdx.x % 32 == 0 && most > 0) atomicMax(&to.longest, most);
  if (sum > 0) atomicAdd(&to.sum, sum);
  if (lengths[threadIdx.x] > 0) atomicAdd(&to.lengths[threadIdx.x], lengths[threadIdx.x]);
}

constexpr u32 retrieveBlocks(int) { return 2; }
constexpr u32 statisticsBlocks(int) { return 8; }

}  // namespace warpmap

WARPMAP_KERNELS_OF_FORMATS(retrieve)
WARPMAP_KERNELS_OF_FORMATS(statistics)
