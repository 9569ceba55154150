// A block's own states of the groups that it meets, in shared memory, so that a group with many rows is merged once a
// block and not once a row.
//
// A group is known by a word, its identity. A slot's index and what it holds make up the identity, so comparing one
// word finds a group. Slots that are neighbours make a bucket, which a row's thread looks at as a whole: a warp waits for
// its longest search. Of the groups that want one bucket, those that come first have its slots for as long as the block
// runs; rows of the others go to the states of all. With few groups each has several slots (2^replicas), and neighbouring
// threads add to different ones.
#pragma once
#include "groups-of-rows.cuh"
#include "values.cuh"

namespace warpmap::rows {

/// The most threads of a block.
constexpr u32 CACHE_THREADS = 1024;
/// Rows that a thread loads at once; `items` is a multiple.
constexpr u32 CACHE_BATCH = 4;
/// Slots of a bucket, and the logarithm.
constexpr u32 BUCKET = 4, BUCKET_BITS = 2;
/// A group may have slots of its home bucket and of those behind it, at most 2^STEP_BITS buckets.
constexpr u32 STEP_BITS = 1;

/// (CACHE + 1) × (1 + kept()) words, and a list of CACHE + 1 slots of half a word, which the launch asks for:
/// src/runtime/kernels.ts.
WARPMAP_DEVICE u32* cacheMemory() {
  WARPMAP_DYNAMIC_SHARED(memory);
  return (u32*)memory;
}
/// Not 0: what the kernel does is to no purpose.
WARPMAP_DEVICE u32* stopped() {
  __shared__ u32 word;
  return &word;
}

/// The slots of a block: CACHE of them, and behind these that of the rows whose key is null. What is kept of each is in
/// arrays of SLOTS words, behind what it holds.
struct GroupCache {
  u32* holders;
  u32 slots, steps, replicas;
  /// Of a home bucket's number.
  u32 homeBits;

  template <class Arguments>
  WARPMAP_DEVICE GroupCache(const Arguments& a, u32 replicas)
      : holders(cacheMemory()),
        slots(a.CACHE),
        steps(u32(ceilDivide(a.STEPS, BUCKET))),
        replicas(replicas),
        homeBits(a.CACHE_BITS - BUCKET_BITS - replicas) {}

  /// Array i of what is kept of the slots.
  WARPMAP_DEVICE u32* kept(u32 i) const { return holders + (i + 1) * (slots + 1); }
  WARPMAP_DEVICE u32 none() const { return slots + 1; }

  /// The slot of a row's group; none() when others have those that it may have.
  WARPMAP_DEVICE u32 slotOf(const RowKey& key) const {
    if (key.isNull) {
      holders[slots] = 1;
      return slots;
    }
    const u32 mask = (1u << homeBits) - 1;
    const u32 upper = (key.identity >> homeBits) << STEP_BITS;
    const u32 replica = threadIdx.x & ((1u << replicas) - 1);
    for (u32 step = 0; step < steps; step++) {
      u32* bucket = holders + ((((key.identity + step) & mask) << replicas | replica) << BUCKET_BITS);
      const u32 wanted = (upper | step) + 1, first = u32(bucket - holders);
      const uint4 seen = *(const uint4*)bucket;
      if (seen.x == wanted) return first;
      if (seen.y == wanted) return first + 1;
      if (seen.z == wanted) return first + 2;
      if (seen.w == wanted) return first + 3;
      // slots are taken from the first on
      for (u32 i = 0; seen.w == 0 && i < BUCKET; i++) {
        const u32 holder = atomicCAS(bucket + i, 0u, wanted);
        if (holder == 0 || holder == wanted) return first + i;
      }
    }
    return none();
  }

  /// The key of the group that has a slot.
  WARPMAP_DEVICE RowKey keyIn(u32 slot) const {
    if (slot == slots) return {true, 0};
    const u32 told = holders[slot] - 1;
    const u32 home = ((slot >> BUCKET_BITS >> replicas) - (told & ((1u << STEP_BITS) - 1))) & ((1u << homeBits) - 1);
    return {false, (told >> STEP_BITS) << homeBits | home};
  }
};

/// Goes over the rows of a launch. `Body` has `rows`, `column` and `cache`; kept(), how many words are kept of a slot;
/// Entry, a row of a group, with `isTaken` and `key`; entryOf(row, value); take(slot, entry), with a slot of the cache;
/// takeAway(entry), of a group without one; and merge(slot, key).
template <class Arguments, class Body> WARPMAP_DEVICE void overGroups(const Arguments& a, const Body& body) {
  const GroupCache& cache = body.cache;
  for (u32 i = threadIdx.x; i < (cache.slots + 1) * (body.kept() + 1); i += blockDim.x) cache.holders[i] = 0;
  if (threadIdx.x == 0) *stopped() = body.isFutile();
  __syncthreads();
  const u64 start = u64(blockIdx.x) * blockDim.x * a.params.items + threadIdx.x;
  for (u32 i = 0; i < a.params.items; i += CACHE_BATCH) {
    const u64 at = start + u64(i) * blockDim.x;
    if (at >= a.params.count || *(volatile u32*)stopped() != 0) break;
    RowWord row[CACHE_BATCH];
    Loaded value[CACHE_BATCH];
#pragma unroll
    for (u32 k = 0; k < CACHE_BATCH; k++) {
      // the last row again where there is none: what is loaded together waits once
      const u64 own = at + u64(k) * blockDim.x;
      row[k] = body.rows.load(a.params.first + u32(own < a.params.count ? own : a.params.count - 1));
    }
#pragma unroll
    for (u32 k = 0; k < CACHE_BATCH; k++) value[k] = body.column.load(row[k].row);
#pragma unroll
    for (u32 k = 0; k < CACHE_BATCH; k++) {
      const typename Body::Entry entry = body.entryOf(row[k], value[k]);
      if (!entry.isTaken || at + u64(k) * blockDim.x >= a.params.count) continue;
      const u32 slot = cache.slotOf(entry.key);
      if (slot == cache.none()) body.takeAway(entry);
      else body.take(slot, entry);
    }
  }
  __syncthreads();
  // listed first, so that neighbouring threads merge: most slots may be free
  u16* list = (u16*)cache.kept(body.kept());
  __shared__ u32 listed;
  if (threadIdx.x == 0) listed = 0;
  __syncthreads();
  for (u32 slot = threadIdx.x; slot <= cache.slots; slot += blockDim.x) {
    if (cache.holders[slot] != 0) list[atomicAdd(&listed, 1u)] = u16(slot);
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < listed; i += blockDim.x) body.merge(list[i], cache.keyIn(list[i]));
}

}  // namespace warpmap::rows
