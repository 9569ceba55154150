// Which of several GPUs owns a key, and what goes to whom: a batch is put into the order of its owners, elements of one
// owner in the order of the batch, so that what is equal stays in order.
//
//   owner_hash      hashes[i] takes a column of the keys in: FIRST begins them, and the columns come one after another
//   owner_count     counts[owner][block]: elements of each owner in each block's share
//   owner_offsets   the prefix sums of all counts, in place; totals[owner]; one block
//   owner_place     order: the numbers of the selected elements, by owner
//   owner_gather    to[i] = column[order[FROM + i]]
//   owner_scatter   to[order[FROM + i]] = column[i]
//   owner_fill      one element all over a column
//
// Elements that the mask leaves out have no place. Columns have elements of 1, 4 or 8 bytes, and may lie in another
// GPU's memory: they are read and written in runs. Blocks of 256.
#include "batch.cuh"
#include "block.cuh"

namespace warpmap {

constexpr u32 MOST_OWNERS = 64;

/// Murmur3's step, of a key's words one after another.
WARPMAP_DEVICE u32 ownerStep(u32 h, u32 word) { return rotateLeft(h ^ rotateLeft(word * 0xcc9e2d51u, 15) * 0x1b873593u, 13) * 5 + 0xe6546b64u; }

/// The owner by the top digit of the finished hash. It is none of a table's own hashes: those of one owner's keys differ
/// in all their bits.
WARPMAP_DEVICE u32 ownerOf(u32 hash, u32 owners) { return u32(u64(murmur3(hash)) * owners >> 32); }

/// Calls visit(i) for all elements of a block's share in their order, all threads together: `isThere` where it has one.
template <class Visit> WARPMAP_DEVICE void eachOfShare(u32 count, const Visit& visit) {
  const u64 share = shareOf(count), first = blockIdx.x * share;
  for (u64 at = first; at < first + share && at < count; at += BLOCK) {
    const u64 i = at + threadIdx.x;
    visit(u32(i), i < count);
  }
}

template <class T> WARPMAP_DEVICE void gatherByOwner(const owner_gather_arguments& a) {
  const u32* order = (const u32*)a.order.at + a.FROM;
  for (u64 i = u64(blockIdx.x) * BLOCK + threadIdx.x; i < a.COUNT; i += u64(gridDim.x) * BLOCK) {
    ((T*)a.to.at)[i] = ((const T*)a.column.at)[order[i]];
  }
}

template <class T> WARPMAP_DEVICE void scatterByOwner(const owner_scatter_arguments& a) {
  const u32* order = (const u32*)a.order.at + a.FROM;
  for (u64 i = u64(blockIdx.x) * BLOCK + threadIdx.x; i < a.COUNT; i += u64(gridDim.x) * BLOCK) {
    ((T*)a.to.at)[order[i]] = ((const T*)a.column.at)[i];
  }
}

template <class T> WARPMAP_DEVICE void fillAll(const owner_fill_arguments& a) {
  const T element = T(a.LOW | u64(a.HIGH) << 32);
  for (u64 i = u64(blockIdx.x) * BLOCK + threadIdx.x; i < a.COUNT; i += u64(gridDim.x) * BLOCK) ((T*)a.to.at)[i] = element;
}

}  // namespace warpmap

using namespace warpmap;

WARPMAP_KERNEL(owner_hash, owner_hash_arguments, 256, 8) {
  u32* hashes = (u32*)a.hashes.at;
  for (u64 i = u64(blockIdx.x) * BLOCK + threadIdx.x; i < a.COUNT; i += u64(gridDim.x) * BLOCK) {
    const u32 before = a.FIRST ? a.SEED : hashes[i];
    if (a.WORDS == 1) {
      const u32 word = ((const u32*)a.column.at)[i];
      hashes[i] = ownerStep(before, a.FLOAT ? canonicalF32(word) : word);
    } else {
      const u64 both = ((const u64*)a.column.at)[i];
      const u64 word = a.FLOAT ? canonicalF64(both) : both;
      hashes[i] = ownerStep(ownerStep(before, u32(word)), u32(word >> 32));
    }
  }
}

WARPMAP_KERNEL(owner_count, owner_count_arguments, 256, 8) {
  __shared__ u32 counts[MOST_OWNERS];
  if (threadIdx.x < MOST_OWNERS) counts[threadIdx.x] = 0;
  __syncthreads();
  const u32* hashes = (const u32*)a.hashes.at;
  eachOfShare(a.COUNT, [&](u32 i, bool isThere) {
    const u32 owner = isThere && isSelected(a.mask, i) ? ownerOf(hashes[i], a.OWNERS) : a.OWNERS;
    for (u32 o = 0; o < a.OWNERS; o++) {
      const u32 lanes = __ballot_sync(ALL_LANES, owner == o);
      if (threadIdx.x % 32 == 0 && lanes != 0) atomicAdd(&counts[o], u32(__popc(lanes)));
    }
  });
  __syncthreads();
  if (threadIdx.x < a.OWNERS) ((u32*)a.counts.at)[threadIdx.x * gridDim.x + blockIdx.x] = counts[threadIdx.x];
}

WARPMAP_KERNEL(owner_offsets, owner_offsets_arguments, 1024) {
  u32* counts = (u32*)a.counts.at;
  const u32 all = a.OWNERS * a.BLOCKS;
  const u32 share = u32(ceilDivide(all, blockDim.x));
  const u32 first = threadIdx.x * share;
  u32 sum = 0;
  for (u32 i = first; i < first + share && i < all; i++) sum += counts[i];
  u32 before = rows::blockPrefix(sum).before;
  for (u32 i = first; i < first + share && i < all; i++) {
    const u32 mine = counts[i];
    counts[i] = before;
    if (mine > 0) atomicAdd((u32*)a.totals.at + i / a.BLOCKS, mine);
    before += mine;
  }
}

WARPMAP_KERNEL(owner_place, owner_place_arguments, 256, 8) {
  constexpr u32 WARPS_OF_BLOCK = BLOCK / 32;
  __shared__ u32 next[MOST_OWNERS];
  __shared__ u32 counts[MOST_OWNERS][WARPS_OF_BLOCK];
  if (threadIdx.x < a.OWNERS) next[threadIdx.x] = ((const u32*)a.counts.at)[threadIdx.x * gridDim.x + blockIdx.x];
  __syncthreads();
  const u32* hashes = (const u32*)a.hashes.at;
  const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  eachOfShare(a.COUNT, [&](u32 i, bool isThere) {
    const u32 owner = isThere && isSelected(a.mask, i) ? ownerOf(hashes[i], a.OWNERS) : a.OWNERS;
    u32 rank = 0;
    for (u32 o = 0; o < a.OWNERS; o++) {
      const u32 lanes = __ballot_sync(ALL_LANES, owner == o);
      if (lane == 0) counts[o][warp] = u32(__popc(lanes));
      if (owner == o) rank = u32(__popc(lanes & ((1u << lane) - 1)));
    }
    __syncthreads();
    if (owner < a.OWNERS) {
      u32 before = next[owner];
      for (u32 w = 0; w < warp; w++) before += counts[owner][w];
      ((u32*)a.order.at)[before + rank] = i;
    }
    __syncthreads();
    if (threadIdx.x < a.OWNERS) {
      for (u32 w = 0; w < WARPS_OF_BLOCK; w++) next[threadIdx.x] += counts[threadIdx.x][w];
    }
    __syncthreads();
  });
}

WARPMAP_KERNEL(owner_gather, owner_gather_arguments, 256, 8) {
  if (a.BYTES == 1) gatherByOwner<u8>(a);
  else if (a.BYTES == 4) gatherByOwner<u32>(a);
  else gatherByOwner<u64>(a);
}

WARPMAP_KERNEL(owner_scatter, owner_scatter_arguments, 256, 8) {
  if (a.BYTES == 1) scatterByOwner<u8>(a);
  else if (a.BYTES == 4) scatterByOwner<u32>(a);
  else scatterByOwner<u64>(a);
}

WARPMAP_KERNEL(owner_fill, owner_fill_arguments, 256, 8) {
  if (a.BYTES == 1) fillAll<u8>(a);
  else if (a.BYTES == 4) fillAll<u32>(a);
  else fillAll<u64>(a);
}
