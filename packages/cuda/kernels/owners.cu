// Which of several GPUs owns a key, and what goes to whom: a batch is put into the order of its owners, elements of one
// owner in the order of the batch, so that what is equal stays in order.
//
//   owner_hash      hashes[i] takes a column of the keys in: FIRST begins them, and the columns come one after another
//   owner_count     counts[bin][warp]: elements of each bin in each warp's share; with a column, which is the keys' last,
//                   the hashes take it in before
//   owner_offsets   the prefix sums of all counts, in place; starts[bin], and behind the last the sum; one block of 1,024
//   owner_place     order: the numbers of the selected elements, by bin
//   owner_send      segment[i] = column[order[from + i]], or without a column that number itself and BASE, of all segments:
//                   SEGMENTS × tiles of 2,048 elements
//   owner_take      to[order[from + i]] = segment[i], the same
//   owner_gather    to[i] = column[order[i]]
//   owner_scatter   to[order[i]] = column[i]
//   owner_fill      one element all over a column
//   owner_merge     of LISTS ascending lists one after another: where each element is among all of them
//
// Bins are the OWNERS: each GPU is CHUNKS of them. Elements whose hash is among the HOT ones go otherwise: of the first
// STAYING hashes to the chunk of the GPU that has them, OWN, and of the others to bins of CHUNKS behind all owners, which
// are for all GPUs. Elements that the mask leaves out have no place. Columns have elements of 1 byte or of whole words,
// and may lie in another GPU's memory: they are read and written in runs. To send and take elements of 1, 4 and 8 bytes,
// a thread has several loads under way. Blocks of 256.
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

/// The hash of an element so far, and a column of its key.
template <class Arguments> WARPMAP_DEVICE u32 hashWith(const Arguments& a, u64 i) {
  const u32* words = (const u32*)a.column.at;
  u32 hash = a.FIRST ? a.SEED : ((const u32*)a.hashes.at)[i];
  if (a.WORDS == 1) return ownerStep(hash, a.FLOAT ? canonicalF32(words[i]) : words[i]);
  if (a.WORDS == 2) {
    const u64 both = ((const u64*)words)[i];
    const u64 word = a.FLOAT ? canonicalF64(both) : both;
    return ownerStep(ownerStep(hash, u32(word)), u32(word >> 32));
  }
  for (u32 w = 0; w < a.WORDS; w++) hash = ownerStep(hash, words[i * a.WORDS + w]);
  return hash;
}

/// The bin of an element; behind the last one where it has none.
template <class Arguments> WARPMAP_DEVICE u32 binOf(const Arguments& a, u32 i, u32 hash, bool isThere) {
  if (!isThere || !isSelected(a.mask, i)) return binsOf(a);
  const u32 owner = ownerOf(hash, a.OWNERS);
  for (u32 h = 0; h < a.HOT; h++)
    if (((const u32*)a.hot.at)[h] == hash) return (h < a.STAYING ? a.OWN * a.CHUNKS : a.OWNERS) + owner % a.CHUNKS;
  return owner;
}

constexpr u32 OWNER_WARPS = BLOCK / 32;
/// Elements of a thread whose loads are under way at once.
constexpr u32 AT_ONCE = 8;

/// Calls visit(i, bin) for all elements of a warp's share in their order, its lanes together; behind the last, `bin` is
/// none. load(i) loads what hashOf(i, loaded) makes the hash of.
template <class Arguments, class Load, class Hash, class Visit>
WARPMAP_DEVICE void eachOfShare(const Arguments& a, const Load& load, const Hash& hashOf, const Visit& visit) {
  const u64 warps = u64(gridDim.x) * OWNER_WARPS, share = ceilDivide(ceilDivide(a.COUNT, warps), 32) * 32;
  const u64 first = (u64(blockIdx.x) * OWNER_WARPS + threadIdx.x / 32) * share;
  const u64 end = first + share < a.COUNT ? first + share : a.COUNT;
  for (u64 at = first + threadIdx.x % 32; at - threadIdx.x % 32 < end; at += 32 * AT_ONCE) {
    decltype(load(0)) loaded[AT_ONCE];
#pragma unroll
    for (u32 item = 0; item < AT_ONCE; item++) {
      if (at + 32 * item < end) loaded[item] = load(at + 32 * item);
    }
#pragma unroll
    for (u32 item = 0; item < AT_ONCE; item++) {
      const u64 i = at + 32 * item;
      const bool isThere = i < end;
      visit(u32(i), binOf(a, u32(i), isThere ? hashOf(i, loaded[item]) : 0, isThere));
    }
  }
}

/// Calls visit(i) for this thread's elements.
template <class Visit> WARPMAP_DEVICE void eachElementOf(u64 count, const Visit& visit) {
  for (u64 i = u64(blockIdx.x) * BLOCK + threadIdx.x; i < count; i += u64(gridDim.x) * BLOCK) visit(i);
}

/// Elements that a block goes through at once.
constexpr u32 OWNER_TILE = BLOCK * AT_ONCE;
/// Bytes of a line of memory. Runs of warps that begin within one cross to another GPU in parts: 290 GB/s instead of 370.
constexpr u32 LINE = 128;

/// For the elements `first` to `end` of a block, OWNER_TILE at most: store(i, load(i)). Those before 0 are none.
template <class Load, class Store> WARPMAP_DEVICE void allAtOnce(u64 first, u64 end, const Load& load, const Store& store) {
  decltype(load(0)) loaded[AT_ONCE];
#pragma unroll
  for (u32 item = 0; item < AT_ONCE; item++) {
    const u64 i = first + item * BLOCK + threadIdx.x;
    if (i < end) loaded[item] = load(i);
  }
#pragma unroll
  for (u32 item = 0; item < AT_ONCE; item++) {
    const u64 i = first + item * BLOCK + threadIdx.x;
    if (i < end) store(i, loaded[item]);
  }
}

/// An element, and its number in the batch.
template <class T> struct Numbered {
  u32 number;
  T element;
};

/// Elements one after another in some GPU's memory, and where their numbers are in `order`.
struct Segment {
  u64 at;
  u32 from, count;
};
/// Calls visit(elements, order, first, end) for this block's tile of a segment: where the segment begins, and its numbers.
/// Tiles begin where lines do, the first one before the segment. Segments take turns, so that all ways between GPUs are busy.
template <class Arguments, class Visit> WARPMAP_DEVICE void tileOfSegment(const Arguments& a, const Visit& visit) {
  const Segment segment = ((const Segment*)a.segments.at)[blockIdx.x % a.SEGMENTS];
  const u64 lead = segment.at % LINE / a.BYTES, first = u64(blockIdx.x / a.SEGMENTS) * OWNER_TILE;
  if (first >= segment.count + lead) return;
  const u64 behind = first + OWNER_TILE - lead;
  visit((unsigned char*)segment.at, (const u32*)a.order.at + segment.from, first - lead, behind < segment.count ? behind : segment.count);
}
template <class T> WARPMAP_DEVICE void sendAll(const owner_send_arguments& a) {
  tileOfSegment(a, [&](unsigned char* elements, const u32* order, u64 first, u64 end) {
    allAtOnce(
        first, end, [&](u64 i) { return ((const T*)a.column.at)[order[i]]; },
        [&](u64 i, T element) { ((T*)elements)[i] = element; });
  });
}
template <class T> WARPMAP_DEVICE void takeAll(const owner_take_arguments& a) {
  tileOfSegment(a, [&](const unsigned char* elements, const u32* order, u64 first, u64 end) {
    allAtOnce(
        first, end, [&](u64 i) { return Numbered<T>{order[i], ((const T*)elements)[i]}; },
        [&](u64, const Numbered<T>& one) { ((T*)a.to.at)[one.number] = one.element; });
  });
}

/// Copies the words of an element.
WARPMAP_DEVICE void copyWords(const unsigned char* from, unsigned char* to, u32 bytes) {
  for (u32 w = 0; w < bytes / 4; w++) ((u32*)to)[w] = ((const u32*)from)[w];
}

template <class T> WARPMAP_DEVICE void fillAll(const owner_fill_arguments& a) {
  const T element = T(a.LOW | u64(a.HIGH) << 32);
  eachElementOf(a.COUNT, [&](u64 i) { ((T*)a.to.at)[i] = element; });
}

}  // namespace warpmap

using namespace warpmap;

WARPMAP_KERNEL(owner_hash, owner_hash_arguments, 256, 4) {
  eachElementOf(a.COUNT, [&](u64 i) { ((u32*)a.hashes.at)[i] = hashWith(a, i); });
}

WARPMAP_KERNEL(owner_count, owner_count_arguments, 256, 4) {
  __shared__ u32 counts[OWNER_WARPS][MOST_BINS];
  const u32 bins = binsOf(a), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (u32 o = lane; o < bins; o += 32) counts[warp][o] = 0;
  __syncwarp();
  const auto count = [&](u32, u32 bin) {
    const u32 alike = __match_any_sync(ALL_LANES, bin);
    if (bin < bins && (alike & ((1u << lane) - 1)) == 0) counts[warp][bin] += u32(__popc(alike));
    __syncwarp();
  };
  u32* const hashes = (u32*)a.hashes.at;
  const auto known = [&](u64 i) { return hashes[i]; };
  const auto same = [](u64, u32 hash) { return hash; };
  const u32* const words = (const u32*)a.column.at;
  if (words == nullptr) eachOfShare(a, known, same, count);
  else if (a.FIRST && a.WORDS == 1 && !a.FLOAT) {
    eachOfShare(a, [&](u64 i) { return words[i]; }, [&](u64 i, u32 word) { return hashes[i] = ownerStep(a.SEED, word); }, count);
  } else eachOfShare(a, [&](u64 i) { return hashWith(a, i); }, [&](u64 i, u32 hash) { return hashes[i] = hash; }, count);
  const u32 warps = gridDim.x * OWNER_WARPS;
  for (u32 o = lane; o < bins; o += 32) ((u32*)a.counts.at)[o * warps + blockIdx.x * OWNER_WARPS + warp] = counts[warp][o];
}

WARPMAP_KERNEL(owner_offsets, owner_offsets_arguments, 1024) {
  u32* counts = (u32*)a.counts.at;
  const u32 all = a.BINS * a.SHARES;
  u32 before = 0;
  for (u32 first = 0; first < all; first += 4 * blockDim.x) {
    // neighbouring ones
    const u32 own = first + 4 * threadIdx.x;
    u32 mine[4], sum = 0;
    for (u32 i = 0; i < 4; i++) sum += mine[i] = own + i < all ? counts[own + i] : 0;
    const rows::Prefix prefix = rows::blockPrefix(sum);
    u32 start = before + prefix.before;
    for (u32 i = 0; i < 4 && own + i < all; i++) {
      counts[own + i] = start;
      if ((own + i) % a.SHARES == 0) ((u32*)a.starts.at)[(own + i) / a.SHARES] = start;
      start += mine[i];
    }
    before += prefix.total;
  }
  if (threadIdx.x == 0) ((u32*)a.starts.at)[a.BINS] = before;
}

WARPMAP_KERNEL(owner_place, owner_place_arguments, 256, 4) {
  __shared__ u32 next[OWNER_WARPS][MOST_BINS];
  const u32 bins = binsOf(a), warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = gridDim.x * OWNER_WARPS;
  for (u32 o = lane; o < bins; o += 32) next[warp][o] = ((const u32*)a.counts.at)[o * warps + blockIdx.x * OWNER_WARPS + warp];
  __syncwarp();
  const auto place = [&](u32 i, u32 bin) {
    const u32 alike = __match_any_sync(ALL_LANES, bin);
    const u32 rank = u32(__popc(alike & ((1u << lane) - 1)));
    const u32 before = bin < bins ? next[warp][bin] : 0;
    __syncwarp();
    if (bin < bins) {
      if (rank == 0) next[warp][bin] = before + u32(__popc(alike));
      ((u32*)a.order.at)[before + rank] = i;
    }
    __syncwarp();
  };
  eachOfShare(a, [&](u64 i) { return ((const u32*)a.hashes.at)[i]; }, [](u64, u32 hash) { return hash; }, place);
}

WARPMAP_KERNEL(owner_send, owner_send_arguments, 256, 4) {
  if (a.column.at == nullptr) {
    tileOfSegment(a, [&](unsigned char* elements, const u32* order, u64 first, u64 end) {
      allAtOnce(first, end, [&](u64 i) { return order[i] + a.BASE; }, [&](u64 i, u32 number) { ((u32*)elements)[i] = number; });
    });
  } else if (a.BYTES == 4) sendAll<u32>(a);
  else if (a.BYTES == 8) sendAll<u64>(a);
  else if (a.BYTES == 1) sendAll<u8>(a);
  else {
    tileOfSegment(a, [&](unsigned char* elements, const u32* order, u64 first, u64 end) {
      allAtOnce(
          first, end, [&](u64 i) { return order[i]; },
          [&](u64 i, u32 from) { copyWords(a.column.at + u64(from) * a.BYTES, elements + i * a.BYTES, a.BYTES); });
    });
  }
}

WARPMAP_KERNEL(owner_take, owner_take_arguments, 256, 4) {
  if (a.BYTES == 4) takeAll<u32>(a);
  else if (a.BYTES == 8) takeAll<u64>(a);
  else takeAll<u8>(a);
}

WARPMAP_KERNEL(owner_gather, owner_gather_arguments, 256) {
  const u32* order = (const u32*)a.order.at;
  eachElementOf(a.COUNT, [&](u64 i) { ((u32*)a.to.at)[i] = ((const u32*)a.column.at)[order[i]]; });
}

WARPMAP_KERNEL(owner_scatter, owner_scatter_arguments, 256) {
  const u32* order = (const u32*)a.order.at;
  eachElementOf(a.COUNT, [&](u64 i) { copyWords(a.column.at + i * a.BYTES, a.to.at + u64(order[i]) * a.BYTES, a.BYTES); });
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
