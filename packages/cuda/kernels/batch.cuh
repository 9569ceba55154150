// How the kernels of tables go over a batch: each block of 256 threads has a share of neighbouring elements, as many as
// its part of the grid; a few blocks a multiprocessor are right for small batches, 2,048 elements a block for large ones.
// A thread goes through the elements of its share one probe a step, and begins the next when one is done, so that a warp
// does not wait for its longest probe; it takes long ones further together. Counts reach memory once a block.
#pragma once
#include "arguments.h"
#include "warpmap/table.cuh"

namespace warpmap {

constexpr u32 BLOCK = 256;

/// Elements of a block of this grid.
WARPMAP_DEVICE u64 shareOf(u32 count) { return (u64(count) + gridDim.x * BLOCK - 1) / (gridDim.x * BLOCK) * BLOCK; }

/// Goes through the elements next, next + STRIDE, … of this thread: fetch(i) loads what begin(i, fetched, walk) needs, one
/// element ahead; begin answers false for an element that is done with at once; step(i, walk) does one probe, and answers
/// whether it was the last; skip(walk, lane) is called by all threads of the warp for the lane whose walk isFar. All
/// threads of a warp call this.
template <class Walk, u32 STRIDE, class Fetch, class Begin, class Step, class Skip>
WARPMAP_DEVICE void eachUntil(u64 next, u64 end, const Fetch& fetch, const Begin& begin, const Step& step, const Skip& skip) {
  decltype(fetch(0)) fetched;
  if (next < end) fetched = fetch(u32(next));
  u32 current = 0;
  bool isBusy = false;
  Walk walk;
  while (__any_sync(ALL_LANES, isBusy || next < end)) {
    if (!isBusy && next < end) {
      current = u32(next);
      const auto mine = fetched;
      next += STRIDE;
      if (next < end) fetched = fetch(u32(next));
      isBusy = begin(current, mine, walk);
    }
    if (isBusy) isBusy = !step(current, walk);
    for (u32 far = __ballot_sync(ALL_LANES, isBusy && walk.isFar()); far != 0; far &= far - 1) skip(walk, u32(__ffs(int(far)) - 1));
  }
}

/// Goes through this thread's elements of the batch, or of those that `list` has: as many as the kernel before counted.
template <class Walk, class Arguments, class Fetch, class Begin, class Step, class Skip>
WARPMAP_DEVICE void eachElement(const Arguments& a, const Fetch& fetch, const Begin& begin, const Step& step, const Skip& skip) {
  const u32* list = (const u32*)a.list.at;
  const u32 count = list == nullptr ? a.COUNT : loadThroughL1(&((const Control*)a.control.at)->listed);
  // listed ones take long: all warps have as many
  const u64 share = list == nullptr ? shareOf(count) : ceilDivide(count, gridDim.x);
  const u32 thread = list == nullptr ? threadIdx.x : threadIdx.x % 32 * (BLOCK / 32) + threadIdx.x / 32;
  const u64 end = (blockIdx.x + 1) * share < count ? (blockIdx.x + 1) * share : count;
  const auto element = [list](u32 i) { return list == nullptr ? i : list[i]; };
  eachUntil<Walk, BLOCK>(
      blockIdx.x * share + thread, end, [&](u32 i) { return fetch(element(i)); },
      [&](u32 i, const auto& fetched, Walk& walk) { return begin(element(i), fetched, walk); },
      [&](u32 i, Walk& walk) { return step(element(i), walk); }, skip);
}

/// Of a batch that is sorted by partition: asks for the slots that the blocks of the next partition will probe, all
/// blocks for a piece each, so that they come from memory in long runs. `ahead` elements are between a block and those.
template <class T> WARPMAP_DEVICE void prefetchSlots(const T& table, u32 count, u32 ahead) {
  if (ahead == 0) return;
  const u64 bytes = u64(table.at(table.slotCount()) - table.at(0));
  const u64 share = shareOf(count), first = blockIdx.x * share + ahead, last = first + share;
  const u64 from = bytes * first / count / 128 * 128, until = bytes * last / count;
  for (u64 at = from + threadIdx.x * 128; at < until && at < bytes; at += BLOCK * 128) prefetchLine(table.at(0) + at);
}

WARPMAP_DEVICE bool isSelected(const Range& mask, u32 i) { return mask.at == nullptr || mask.at[i] != 0; }

/// Counters of a block in shared memory. All its threads make one, once in a kernel, and then call `flush`.
template <u32 COUNTERS> struct BlockCounts {
  u32* sums;

  WARPMAP_DEVICE BlockCounts() {
    __shared__ u32 shared[COUNTERS];
    sums = shared;
    if (threadIdx.x < COUNTERS) sums[threadIdx.x] = 0;
    __syncthreads();
  }
  /// One more. For what is rare, or as many as elements at worst.
  WARPMAP_DEVICE void addOne(u32 counter) const { atomicAdd(&sums[counter], 1u); }
  /// The sum of the numbers of a warp's threads.
  WARPMAP_DEVICE void addAll(u32 counter, u32 mine) const {
    const u32 sum = __reduce_add_sync(ALL_LANES, mine);
    if (threadIdx.x % 32 == 0 && sum > 0) atomicAdd(&sums[counter], sum);
  }
  /// Adds the block's counters to words in memory.
  WARPMAP_DEVICE void flush(u32* const (&to)[COUNTERS]) const {
    __syncthreads();
#pragma unroll
    for (u32 c = 0; c < COUNTERS; c++) {
      if (threadIdx.x == c && sums[c] > 0) atomicAdd(to[c], sums[c]);
    }
  }
};

/// The table's maxProbe as this launch found it, or any later one: out of L1, as all warps of the grid ask.
WARPMAP_DEVICE u32 reachAtRest(const Control& control) { return loadThroughL1(&control.maxProbe); }

/// Raises maxProbe, where a thread of the warp went further than `before`, and nobody has yet: many warps do, and an
/// addition to one word waits for the others. All threads of a warp call it.
WARPMAP_DEVICE void raiseReach(Control& control, u32 before, u32 mine) {
  const u32 most = __reduce_max_sync(ALL_LANES, mine);
  if (threadIdx.x % 32 == 0 && most > before && most > loadRelaxed(&control.maxProbe)) atomicMax(&control.maxProbe, most);
}

/// Where an element's search begins; its hash is in `hashes` where the host made it.
template <class T>
WARPMAP_DEVICE typename T::Probe probeOf(const T& table, const typename T::Key& key, const Range& hashes, u32 i) {
  return hashes.at == nullptr ? table.probe(key) : table.probe(key, ((const u32*)hashes.at)[i]);
}
}  // namespace warpmap

/// Defines a kernel of an operation for each slot format, operationBatch<K, V>(a); operationBlocks(K) of its blocks are
/// on a multiprocessor at once.
#define WARPMAP_KERNEL_OF_FORMAT(operation, suffix, K, V) \
  WARPMAP_KERNEL(operation##suffix, operation##_arguments, 256, warpmap::operation##Blocks(K)) { warpmap::operation##Batch<K, V>(a); }
#define WARPMAP_KERNELS_OF_FORMATS(operation)      \
  WARPMAP_KERNEL_OF_FORMAT(operation, _1_0, 1, 0)  \
  WARPMAP_KERNEL_OF_FORMAT(operation, _1_1, 1, 1)  \
  WARPMAP_KERNEL_OF_FORMAT(operation, _2_0, 2, 0)  \
  WARPMAP_KERNEL_OF_FORMAT(operation, _1_2, 1, 2)  \
  WARPMAP_KERNEL_OF_FORMAT(operation, _2_1, 2, 1)  \
  WARPMAP_KERNEL_OF_FORMAT(operation, _2_2, 2, 2)  \
  WARPMAP_KERNEL_OF_FORMAT(operation, _wide, -1, -1)
