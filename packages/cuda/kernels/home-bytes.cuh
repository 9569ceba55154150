// Where the entries of each home slot of a window (windows.cuh) are, in bytes of shared memory for each slot, by a block of
// WINDOW_BLOCK threads. HomeBytes: in the order of home slots, as if each had been inserted behind those of lower home
// slots. HomeRuns: where they lie already.
#pragma once
#include "batch.cuh"

namespace warpmap {

constexpr u32 WINDOW_BLOCK = 512;

/// Slots from the first on, up to the end.
struct SlotRange {
  u32 first, end;
};

/// How many elements have each home slot of a window, in bytes of shared memory; then where those of the home slot go:
/// how far behind it the next one does.
struct HomeBytes {
  static constexpr u32 OF_THREAD = 16;
  static constexpr u32 MOST = 255;

  u32* words;
  u32 slots;

  WARPMAP_DEVICE HomeBytes(unsigned char* memory, u32 slots) : words((u32*)memory), slots(slots) {}
  WARPMAP_DEVICE u32 allBytes() const { return u32(ceilDivide(slots, OF_THREAD)) * OF_THREAD; }
  WARPMAP_DEVICE void clear() const {
    for (u32 at = threadIdx.x; at < allBytes() / 16; at += WINDOW_BLOCK) ((uint4*)words)[at] = uint4{0, 0, 0, 0};
  }
  /// Adds one; answers what was there.
  WARPMAP_DEVICE u32 add(u32 home) const {
    const u32 shift = home % 4 * 8;
    return atomicAdd(&words[home / 4], 1u << shift) >> shift & MOST;
  }
  /// When all elements are where they go: the places of those with this home slot, from the first to the end.
  WARPMAP_DEVICE u32 endOf(u32 home) const { return home + ((const u8*)words)[home]; }
  WARPMAP_DEVICE u32 firstOf(u32 home) const { return home == 0 ? 0 : max(home, endOf(home - 1)); }
  WARPMAP_DEVICE SlotRange rangeOf(u32 home) const { return {firstOf(home), endOf(home)}; }

  /// Where elements go, as a function of the place p that is free before them: max(p + count, least).
  struct Shift {
    u32 count, least;

    WARPMAP_DEVICE u32 operator()(u32 place) const { return max(place + count, least); }
    WARPMAP_DEVICE Shift then(const Shift& next) const { return {count + next.count, next(least)}; }
  };
  /// Makes places of counts; `added` are this thread's. False where a byte was or is too small for that: the sum of bytes
  /// is not that of all threads, or an element is too far from home. All threads of the block call it, and wait for each
  /// other.
  WARPMAP_DEVICE bool toPlaces(u32 added) const {
    __shared__ Shift warps[WINDOW_BLOCK / 32];
    const BlockCounts<1> elements;
    elements.addAll(0, added);
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    Shift before = {0, 0};
    bool fits = true;
    for (u32 round = 0; round < allBytes(); round += OF_THREAD * WINDOW_BLOCK) {
      const u32 first = round + threadIdx.x * OF_THREAD;
      u32 mine[OF_THREAD / 4] = {};
      Shift shift = {0, 0};
      if (first < allBytes()) {
        const uint4 all = *(const uint4*)((const u8*)words + first);
        mine[0] = all.x, mine[1] = all.y, mine[2] = all.z, mine[3] = all.w;
#pragma unroll
        for (u32 i = 0; i < OF_THREAD; i++) {
          const u32 count = mine[i / 4] >> i % 4 * 8 & MOST;
          shift = shift.then({count, first + i + count});
        }
      }
#pragma unroll
      for (u32 by = 1; by < 32; by *= 2) {
        const Shift other = {__shfl_up_sync(ALL_LANES, shift.count, by), __shfl_up_sync(ALL_LANES, shift.least, by)};
        if (lane >= by) shift = other.then(shift);
      }
      if (lane == 31) warps[warp] = shift;
      __syncthreads();
      Shift upTo = before;
      for (u32 w = 0; w < WINDOW_BLOCK / 32; w++) {
        if (w == warp) upTo = before;
        before = before.then(warps[w]);
      }
      const Shift other = {__shfl_up_sync(ALL_LANES, shift.count, 1), __shfl_up_sync(ALL_LANES, shift.least, 1)};
      if (lane > 0) upTo = upTo.then(other);
      u32 place = upTo(0);
      if (first < allBytes()) {
#pragma unroll
        for (u32 i = 0; i < OF_THREAD; i++) {
          const u32 at = i % 4 * 8, count = mine[i / 4] >> at & MOST, home = first + i;
          place = max(place, home);
          fits = fits && place - home + count <= MOST;
          mine[i / 4] = (mine[i / 4] & ~(MOST << at)) | ((place - home) & MOST) << at;
          place += count;
        }
        *(uint4*)((u8*)words + first) = uint4{mine[0], mine[1], mine[2], mine[3]};
      }
      __syncthreads();
    }
    return !__syncthreads_or(!fits || before.count != elements.sums[0]);
  }
};

/// Where the entries of each home slot are that lie in a run, in two bytes for each slot: how far behind it the first is,
/// and the place behind the last; 0 for none. Of a home slot with two runs they are sums, which mean nothing.
struct HomeRuns {
  static constexpr u32 MOST = 255;

  unsigned char* memory;

  WARPMAP_DEVICE void clear(u32 slots) const {
    for (u32 at = threadIdx.x; at < ceilDivide(slots, 8); at += WINDOW_BLOCK) ((uint4*)memory)[at] = uint4{0, 0, 0, 0};
  }
  WARPMAP_DEVICE void begin(u32 home, u32 way) const { add(home, way); }
  WARPMAP_DEVICE void end(u32 home, u32 way) const { add(home, way << 8); }
  WARPMAP_DEVICE SlotRange rangeOf(u32 home) const {
    const u32 run = ((const uint16_t*)memory)[home];
    return {home + (run & 0xff), home + (run >> 8)};
  }
  /// Home slots with a run, of this thread's share.
  WARPMAP_DEVICE u32 countOfThread(u32 slots) const {
    u32 count = 0;
    for (u32 at = threadIdx.x; at < ceilDivide(slots, 8); at += WINDOW_BLOCK) {
      const uint4 all = ((const uint4*)memory)[at];
      for (const u32 two : {all.x, all.y, all.z, all.w}) count += u32((two & 0xff00) != 0) + u32(two >> 24 != 0);
    }
    return count;
  }

 private:
  WARPMAP_DEVICE void add(u32 home, u32 bytes) const { atomicAdd((u32*)memory + home / 2, bytes << home % 2 * 16); }
};

}  // namespace warpmap
