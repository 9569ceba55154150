// What the threads of a warp or a block make together: sums, prefix sums, room in lists. All threads of a block call
// these, wherever it says "block"; blocks have whole warps, and 1,024 threads at most.
#pragma once
#include "warpmap/atomics.cuh"

namespace warpmap::rows {

constexpr u32 LANES = 32;
constexpr u32 MOST_WARPS = 32;

WARPMAP_DEVICE u32 laneOf() { return threadIdx.x % LANES; }

/// The sum of a warp's numbers up to this lane's, its own included.
WARPMAP_DEVICE u32 warpPrefix(u32 mine) {
#pragma unroll
  for (u32 reach = 1; reach < LANES; reach *= 2) {
    const u32 before = __shfl_up_sync(ALL_LANES, mine, reach);
    if (laneOf() >= reach) mine += before;
  }
  return mine;
}

/// A prefix sum over a block.
struct Prefix {
  /// Of the threads before this one.
  u32 before;
  u32 total;
};

/// Sums of a block's numbers. May be called again at once.
WARPMAP_DEVICE Prefix blockPrefix(u32 mine) {
  __shared__ u32 sums[MOST_WARPS];
  const u32 warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
  const u32 upTo = warpPrefix(mine);
  if (laneOf() == LANES - 1) sums[warp] = upTo;
  __syncthreads();
  if (warp == 0) {
    const u32 sum = laneOf() < warps ? sums[laneOf()] : 0;
    const u32 all = warpPrefix(sum);
    if (laneOf() < warps) sums[laneOf()] = all;
  }
  __syncthreads();
  const Prefix prefix = {upTo - mine + (warp > 0 ? sums[warp - 1] : 0), sums[warps - 1]};
  __syncthreads();
  return prefix;
}

/// The sum of a warp's numbers, in its first lane.
WARPMAP_DEVICE u64 warpSum(u64 mine) {
#pragma unroll
  for (u32 reach = LANES / 2; reach > 0; reach /= 2) mine += __shfl_xor_sync(ALL_LANES, mine, reach);
  return mine;
}

/// Adds the block's numbers to one in memory. The threads of a block need not be together.
WARPMAP_DEVICE void addOfWarp(u32* to, u32 mine) {
  const u32 sum = u32(warpSum(mine));
  if (laneOf() == 0 && sum > 0) atomicAdd(to, sum);
}
WARPMAP_DEVICE void addOfWarp(u64* to, u64 mine) {
  const u64 sum = warpSum(mine);
  if (laneOf() == 0 && sum > 0) atomicAdd(to, sum);
}

/// The same with one addition a block.
template <class T> WARPMAP_DEVICE void addOfBlock(T* to, T mine) {
  __shared__ T sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  addOfWarp(&sum, mine);
  __syncthreads();
  if (threadIdx.x == 0 && sum > 0) atomicAdd(to, sum);
}

/// Room for `mine` items of each thread behind those that `cursor` counts, one addition a block. Where this thread's
/// go, modulo 2^32.
WARPMAP_DEVICE u32 roomInBlock(u32* cursor, u32 mine) {
  __shared__ u32 base;
  const Prefix prefix = blockPrefix(mine);
  if (threadIdx.x == 0 && prefix.total > 0) base = atomicAdd(cursor, prefix.total);
  __syncthreads();
  return base + prefix.before;
}

/// Raises a word that many threads raise, most of them in vain: reading waits for nobody.
WARPMAP_DEVICE void raise(u32* at, u32 word) {
  if (*(volatile u32*)at < word) atomicMax(at, word);
}

}  // namespace warpmap::rows
