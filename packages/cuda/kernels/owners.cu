// Which of several GPUs owns a key, and what goes to whom: a batch is put into the order of its owners, elements of one
// owner in the order of the batch, so that what is equal stays in order.
//
//   owner_hash      hashes[i] takes a column of the keys in: FIRST begins them, and the columns come one after another
//   owner_count     counts[bin][block]: elements of each bin in each block's share
//   owner_offsets   the prefix sums of all counts, in place; starts[bin], and behind the last the sum; one block
//   owner_place     order: the numbers of the selected elements, by bin
//   owner_gather    to[i] = column[order[FROM + i]], or without a column that number itself and BASE
//   owner_scatter   to[order[FROM + i]] = the first BYTES of column[i], whose elements are STRIDE bytes apart
//   owner_fill      one element all over a column
//   owner_merge     of LISTS ascending lists one after another: where each element is among all of them
//
// Bins are the OWNERS: each GPU is CHUNKS of them. Elements whose hash is among the HOT ones go otherwise: of the first
// STAYING hashes to the chunk of the GPU that has them, OWN, and of the others to bins of CHUNKS behind all owners, which
// are for all GPUs. Elements that the mask leaves out have no place. Columns have elements of 1 byte or of whole words,
// and may lie in another GPU's memory: they are read and written in runs. Blocks of 256.
#include "batch.cuh"
#include "block.cuh"

namespace warpmap {

/// 64 GPUs, and what is for all of them; src/several/sorted-batch.ts says so, too.
constexpr u32 MOST_BINS = 65;

/// Murmur3's step, of a key's words one after another.
WARPMAP_DEVICE u32 ownerStep(u32 h, u32 word) { return rotateLeft(h ^ rotateLeft(word * 0xcc9e2d51u, 15) * 0x1b873593u, 13) * 5 + 0xe6546b64u; }

/// The owner by the top digit of the finished hash. It is none of a table's own hashes: those of one owner's keys differ
/// in all their bits.
WARPMAP_DEVICE u32 ownerOf(u32 hash, u32 owners) { return u32(u64(murmur3(hash)) * owners >> 32); }

template <class Arguments> WARPMAP_DEVICE u32 binsOf(const Arguments& a) { return a.OWNERS + (a.HOT > 0 ? a.CHUNKS : 0); }

/// The bin of an element; behind the last one where it has none.
template <class Arguments> WARPMAP_DEVICE u32 binOf(const Arguments& a, u32 i, bool isThere) {
  if (!isThere || !isSelected(a.mask, i)) return binsOf(a);
  const u32 hash = ((const u32*)a.hashes.at)[i], owner = ownerOf(hash, a.OWNERS);
  for (u32 h = 0; h < a.HOT; h++)
    if (((const u32*)a.hot.at)[h] == hash) return (h < a.STAYING ? a.OWN * a.CHUNKS : a.OWNERS) + owner % a.CHUNKS;
  return owner;
}

/// Calls visit(i) for all elements of a block's share in their order, all threads together: `isThere` where it has one.
template <class Visit> WARPMAP_DEVICE void eachOfShare(u32 count, const Visit& visit) {
  const u64 share = shareOf(count), first = blockIdx.x * share;
  for (u64 at = first; at < first + share && at < count; at += BLOCK) {
    const u64 i = at + threadIdx.x;
    visit(u32(i), i < count);
  }
}

/// Calls visit(i) for this thread's elements.
template <class Visit> WARPMAP_DEVICE void eachElementOf(u64 count, const Visit& visit) {
  for (u64 i = u64(blockIdx.x) * BLOCK + threadIdx.x; i < count; i += u64(gridDim.x) * BLOCK) visit(i);
}

/// Copies element `from` of a column to element `to` of another.
WARPMAP_DEVICE void copyElement(const unsigned char* column, u64 from, unsigned char* target, u64 to, u32 bytes) {
  if (bytes == 4) ((u32*)target)[to] = ((const u32*)column)[from];
  else if (bytes == 8) ((u64*)target)[to] = ((const u64*)column)[from];
  else if (bytes == 1) target[to] = column[from];
  else
    for (u32 w = 0; w < bytes / 4; w++) ((u32*)target)[to * (bytes / 4) + w] = ((const u32*)column)[from * (bytes / 4) + w];
}

template <class T> WARPMAP_DEVICE void fillAll(const owner_fill_arguments& a) {
  const T element = T(a.LOW | u64(a.HIGH) << 32);
  eachElementOf(a.COUNT, [&](u64 i) { ((T*)a.to.at)[i] = element; });
}

}  // namespace warpmap

using namespace warpmap;

WARPMAP_KERNEL(owner_hash, owner_hash_arguments, 256, 8) {
  u32* hashes = (u32*)a.hashes.at;
  const u32* words = (const u32*)a.column.at;
  eachElementOf(a.COUNT, [&](u64 i) {
    u32 hash = a.FIRST ? a.SEED : hashes[i];
    if (a.WORDS == 1) {
      hash = ownerStep(hash, a.FLOAT ? canonicalF32(words[i]) : words[i]);
    } else if (a.WORDS == 2) {
      const u64 both = ((const u64*)words)[i];
      const u64 word = a.FLOAT ? canonicalF64(both) : both;
      hash = ownerStep(ownerStep(hash, u32(word)), u32(word >> 32));
    } else {
      for (u32 w = 0; w < a.WORDS; w++) hash = ownerStep(hash, words[i * a.WORDS + w]);
    }
    hashes[i] = hash;
  });
}

WARPMAP_KERNEL(owner_count, owner_count_arguments, 256, 8) {
  __shared__ u32 counts[MOST_BINS];
  if (threadIdx.x < MOST_BINS) counts[threadIdx.x] = 0;
  __syncthreads();
  const u32 bins = binsOf(a);
  eachOfShare(a.COUNT, [&](u32 i, bool isThere) {
    const u32 bin = binOf(a, i, isThere);
    for (u32 o = 0; o < bins; o++) {
      const u32 lanes = __ballot_sync(ALL_LANES, bin == o);
      if (threadIdx.x % 32 == 0 && lanes != 0) atomicAdd(&counts[o], u32(__popc(lanes)));
    }
  });
  __syncthreads();
  if (threadIdx.x < bins) ((u32*)a.counts.at)[threadIdx.x * gridDim.x + blockIdx.x] = counts[threadIdx.x];
}

WARPMAP_KERNEL(owner_offsets, owner_offsets_arguments, 1024) {
  u32* counts = (u32*)a.counts.at;
  const u32 all = a.BINS * a.BLOCKS;
  const u32 share = u32(ceilDivide(all, blockDim.x));
  const u32 first = threadIdx.x * share;
  u32 sum = 0;
  for (u32 i = first; i < first + share && i < all; i++) sum += counts[i];
  const rows::Prefix prefix = rows::blockPrefix(sum);
  u32 before = prefix.before;
  for (u32 i = first; i < first + share && i < all; i++) {
    const u32 mine = counts[i];
    counts[i] = before;
    if (i % a.BLOCKS == 0) ((u32*)a.starts.at)[i / a.BLOCKS] = before;
    before += mine;
  }
  if (threadIdx.x == 0) ((u32*)a.starts.at)[a.BINS] = prefix.total;
}

WARPMAP_KERNEL(owner_place, owner_place_arguments, 256, 8) {
  constexpr u32 WARPS_OF_BLOCK = BLOCK / 32;
  __shared__ u32 next[MOST_BINS];
  __shared__ u32 counts[MOST_BINS][WARPS_OF_BLOCK];
  const u32 bins = binsOf(a);
  if (threadIdx.x < bins) next[threadIdx.x] = ((const u32*)a.counts.at)[threadIdx.x * gridDim.x + blockIdx.x];
  __syncthreads();
  const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  eachOfShare(a.COUNT, [&](u32 i, bool isThere) {
    const u32 bin = binOf(a, i, isThere);
    u32 rank = 0;
    for (u32 o = 0; o < bins; o++) {
      const u32 lanes = __ballot_sync(ALL_LANES, bin == o);
      if (lane == 0) counts[o][warp] = u32(__popc(lanes));
      if (bin == o) rank = u32(__popc(lanes & ((1u << lane) - 1)));
    }
    __syncthreads();
    if (bin < bins) {
      u32 before = next[bin];
      for (u32 w = 0; w < warp; w++) before += counts[bin][w];
      ((u32*)a.order.at)[before + rank] = i;
    }
    __syncthreads();
    if (threadIdx.x < bins) {
      for (u32 w = 0; w < WARPS_OF_BLOCK; w++) next[threadIdx.x] += counts[threadIdx.x][w];
    }
    __syncthreads();
  });
}

WARPMAP_KERNEL(owner_gather, owner_gather_arguments, 256, 8) {
  const u32* order = (const u32*)a.order.at + a.FROM;
  eachElementOf(a.COUNT, [&](u64 i) {
    if (a.column.at == nullptr) ((u32*)a.to.at)[i] = order[i] + a.BASE;
    else copyElement(a.column.at, order[i], a.to.at, i, a.BYTES);
  });
}

WARPMAP_KERNEL(owner_scatter, owner_scatter_arguments, 256, 8) {
  const u32* order = (const u32*)a.order.at + a.FROM;
  eachElementOf(a.COUNT, [&](u64 i) { copyElement(a.column.at + i * a.STRIDE, 0, a.to.at, order[i], a.BYTES); });
}

WARPMAP_KERNEL(owner_merge, owner_merge_arguments, 256, 8) {
  const u32* numbers = (const u32*)a.numbers.at;
  const u32* ends = (const u32*)a.ends.at;
  eachElementOf(a.COUNT, [&](u64 i) {
    const u32 number = numbers[i];
    u32 place = 0;
    for (u32 list = 0, first = 0; list < a.LISTS; list++) {
      // how many of the list are less
      u32 from = first, until = ends[list];
      while (from < until) {
        const u32 middle = from + (until - from) / 2;
        if (numbers[middle] < number) from = middle + 1;
        else until = middle;
      }
      place += from - first;
      first = ends[list];
    }
    ((u32*)a.places.at)[i] = place;
  });
}

WARPMAP_KERNEL(owner_fill, owner_fill_arguments, 256, 8) {
  if (a.BYTES == 1) fillAll<u8>(a);
  else if (a.BYTES == 4) fillAll<u32>(a);
  else fillAll<u64>(a);
}
