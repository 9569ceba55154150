// Which of several GPUs owns a key, and what goes to whom: a batch is put into the order of its owners, elements of one
// owner in the order of the batch, so that what is equal stays in order.
//
//   owner_hash      hashes[i] takes a column of the keys in: FIRST begins them, and the columns come one after another
//   owner_sort      order: of each tile of 8,192 elements, which of them are selected, by bin; counts[bin][tile] of them, and
//                   begins[bin][tile]: where a bin's are in the tile's order. The column is the keys' last one
//   owner_offsets   the prefix sums of all counts, in place, and behind them their sum; starts[bin], and behind the last the sum
//   owner_send      segment[i] = column[the i-th element of the segment's bin], or without a column that element's number
//                   and BASE, of all segments
//   owner_take      to[the i-th element of the segment's bin] = segment[i], the same
//   owner_gather    to[i] = column[order[i]]
//   owner_scatter   to[order[i]] = column[i]
//   owner_fill      one element all over a column
//   owner_part_starts  of rows that SOURCES GPUs have split by mixed key: where parts begin at the owner of the fine parts
//                   LOW .. HIGH, 2^SHIFT of which are a part; and what brings a source's rows there, by split_parts with
//                   the source's own starts: cursors[source][part]
//   owner_merge     of LISTS ascending lists one after another: where each element is among all of them
//
// Bins are the OWNERS: each GPU is CHUNKS of them. Elements whose hash is among the HOT ones go otherwise: of the first
// STAYING hashes to the chunk of the GPU that has them, OWN, and of the others to bins of CHUNKS behind all owners, which
// are for all GPUs. Elements that the mask leaves out have no place. Columns have elements of 1 byte or of whole words,
// and may lie in another GPU's memory: they are read and written in runs, of a tile and a bin. To send and take elements
// of 1, 4 and 8 bytes, a thread has several loads under way. Blocks of 256 where nothing else is said.
#include "batch.cuh"
#include "block.cuh"
#include "owner-hash.cuh"

namespace warpmap {

/// 64 GPUs, and what is for all of them; src/several/sorted-batch.ts says so, too.
constexpr u32 MOST_BINS = 65;

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

/// Threads that sort, send and take a tile, and elements of a thread: as src/several/owner-kernels.ts says.
constexpr u32 TILE_BLOCK = 512, TILE_ITEMS = 16;
constexpr u32 OWNER_TILE = TILE_BLOCK * TILE_ITEMS, TILE_WARPS = TILE_BLOCK / 32;

/// A warp's numbers of elements by bin: of each lane those of the EACH bins of its number, and 32 and 64 more.
template <u32 EACH> struct WarpBins {
  u32 bins, counts[EACH] = {};

  WARPMAP_DEVICE explicit WarpBins(u32 bins) : bins(bins) {}
  /// Takes an element of each lane in, those of no bin left out; answers how many of its bin came before it.
  WARPMAP_DEVICE u32 add(u32 bin) {
    const u32 lane = threadIdx.x % 32, there = __ballot_sync(ALL_LANES, bin < bins);
    u32 alike = there, mine[EACH], rank = 0;
#pragma unroll
    for (u32 e = 0; e < EACH; e++) mine[e] = there;
    for (u32 bit = 0; 1u << bit < bins; bit++) {
      const u32 set = __ballot_sync(ALL_LANES, bin >> bit & 1);
      alike &= bin >> bit & 1 ? set : ~set;
#pragma unroll
      for (u32 e = 0; e < EACH; e++) mine[e] &= (lane + 32 * e) >> bit & 1 ? set : ~set;
    }
#pragma unroll
    for (u32 e = 0; e < EACH; e++) {
      const u32 before = __shfl_sync(ALL_LANES, counts[e], bin % 32);
      if (bin / 32 == e) rank = before;
      counts[e] += u32(__popc(mine[e]));
    }
    return rank + u32(__popc(alike & ((1u << lane) - 1)));
  }
};

/// The hashes of a thread's elements of a tile, every 32nd of its warp's from `first` on: keys of one word are all loaded first.
template <class Arguments> WARPMAP_DEVICE void hashRows(const Arguments& a, u64 first, u32 (&hashes)[TILE_ITEMS]) {
  if (a.FIRST && a.WORDS == 1 && !a.FLOAT) {
    const u32* const words = (const u32*)a.column.at;
#pragma unroll
    for (u32 item = 0; item < TILE_ITEMS; item++) hashes[item] = first + 32 * item < a.COUNT ? words[first + 32 * item] : 0;
#pragma unroll
    for (u32 item = 0; item < TILE_ITEMS; item++) hashes[item] = ownerStep(a.SEED, hashes[item]);
    return;
  }
#pragma unroll
  for (u32 item = 0; item < TILE_ITEMS; item++) hashes[item] = first + 32 * item < a.COUNT ? hashWith(a, first + 32 * item) : 0;
}

/// Calls visit(i) for this thread's elements.
template <class Visit> WARPMAP_DEVICE void eachElementOf(u64 count, const Visit& visit) {
  for (u64 i = u64(blockIdx.x) * BLOCK + threadIdx.x; i < count; i += u64(gridDim.x) * BLOCK) visit(i);
}

/// Shared memory of a block that sorts tiles.
struct TileMemory {
  /// Elements of each warp by bin; then where they begin among those of the bin.
  u32 counts[TILE_WARPS][MOST_BINS];
  u32 starts[MOST_BINS + 1];
  __align__(4) u16 sorted[OWNER_TILE];
};
template <u32 EACH> WARPMAP_DEVICE void sortTiles(const owner_sort_arguments& a, TileMemory& memory) {
  auto& [counts, starts, sorted] = memory;
  const u32 bins = binsOf(a), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const u32 begin = warp * 32 * TILE_ITEMS + lane;
  const u64 tiles = ceilDivide(a.COUNT, OWNER_TILE);
  for (u64 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const u64 first = tile * OWNER_TILE + begin;
    u32 places[TILE_ITEMS];
    hashRows(a, first, places);
    WarpBins<EACH> own(bins);
    // bin and rank among the warp's, 16 bits each
#pragma unroll
    for (u32 item = 0; item < TILE_ITEMS; item++) {
      const u64 i = first + 32 * item;
      const u32 bin = binOf(a, u32(i), places[item], i < a.COUNT);
      places[item] = bin << 16 | own.add(bin);
    }
#pragma unroll
    for (u32 e = 0; e < EACH; e++) {
      if (lane + 32 * e < bins) counts[warp][lane + 32 * e] = own.counts[e];
    }
    __syncthreads();
    for (u32 bin = warp; bin < bins; bin += TILE_WARPS) {
      const u32 mine = lane < TILE_WARPS ? counts[lane][bin] : 0, upTo = rows::warpPrefix(mine);
      if (lane < TILE_WARPS) counts[lane][bin] = upTo - mine;
      if (lane == 31) ((u32*)a.counts.at)[bin * tiles + tile] = starts[bin] = upTo;
    }
    __syncthreads();
    if (warp == 0) {
      u32 before = 0;
      for (u32 bin = lane; bin - lane < bins; bin += 32) {
        const u32 mine = bin < bins ? starts[bin] : 0, upTo = before + rows::warpPrefix(mine);
        if (bin < bins) ((u32*)a.begins.at)[bin * tiles + tile] = starts[bin] = upTo - mine;
        before = __shfl_sync(ALL_LANES, upTo, 31);
      }
      if (lane == 0) starts[bins] = before;
    }
    __syncthreads();
#pragma unroll
    for (u32 item = 0; item < TILE_ITEMS; item++) {
      const u32 bin = places[item] >> 16;
      if (bin < bins) sorted[starts[bin] + counts[warp][bin] + (places[item] & 0xffff)] = u16(begin + 32 * item);
    }
    __syncthreads();
    u32* const order = (u32*)a.order.at + tile * (OWNER_TILE / 2);
    for (u32 at = threadIdx.x; at < (starts[bins] + 1) / 2; at += TILE_BLOCK) order[at] = ((const u32*)sorted)[at];
    __syncthreads();
  }
}

/// Elements of a thread whose loads are under way at once.
constexpr u32 AT_ONCE = 8;
/// Bytes of a line of memory. Runs of warps that begin within one cross to another GPU in parts: 290 GB/s instead of 370.
constexpr u32 LINE = 128;
/// Of the GPUs, and each again for what is for all.
constexpr u32 MOST_SEGMENTS = 2 * (MOST_BINS - 1);

/// Elements of a bin one after another in some GPU's memory.
struct Segment {
  u64 at;
  u32 bin, unused;
};
/// Those of them that are in one tile: where they are, and begin in the tile's order.
struct Run {
  u64 at;
  u32 begin, count;
  WARPMAP_DEVICE u32 lead(u32 bytes) const { return u32(at % LINE / bytes); }
};

/// Calls visit(run, order, first, column index of the tile) for the elements of each tile's segments, a warp for AT_ONCE
/// × 32 of one. Warps begin where lines do, the first before its run. Segments take turns, so that all ways between GPUs
/// are busy.
template <class Arguments, class Visit> WARPMAP_DEVICE void eachRun(const Arguments& a, const Visit& visit) {
  __shared__ Run runs[MOST_SEGMENTS];
  __shared__ u32 most;
  constexpr u32 EACH = AT_ONCE * 32;
  for (u64 tile = blockIdx.x; tile < a.TILES; tile += gridDim.x) {
    if (threadIdx.x == 0) most = 0;
    __syncthreads();
    if (threadIdx.x < a.SEGMENTS) {
      const Segment segment = ((const Segment*)a.segments.at)[threadIdx.x];
      const u32* const offsets = (const u32*)a.counts.at + u64(segment.bin) * a.TILES;
      const u32 count = offsets[tile + 1] - offsets[tile];
      const Run run = {segment.at + u64(offsets[tile] - offsets[0]) * a.BYTES,
                       ((const u32*)a.begins.at)[u64(segment.bin) * a.TILES + tile], count};
      runs[threadIdx.x] = run;
      if (count > 0) atomicMax(&most, count + run.lead(a.BYTES));
    }
    __syncthreads();
    const u32 units = u32(ceilDivide(most, EACH)) * a.SEGMENTS;
    for (u32 unit = threadIdx.x / 32; unit < units; unit += TILE_WARPS) {
      const Run run = runs[unit % a.SEGMENTS];
      const u16* const order = (const u16*)a.order.at + tile * OWNER_TILE + run.begin;
      visit(run, order, unit / a.SEGMENTS * EACH + threadIdx.x % 32 - run.lead(a.BYTES), tile * OWNER_TILE);
    }
    __syncthreads();
  }
}

/// store(i, load(i)) for a lane's elements from `first` on; those before 0 are none.
template <class Load, class Store> WARPMAP_DEVICE void allAtOnce(u32 first, u32 count, const Load& load, const Store& store) {
  decltype(load(0)) loaded[AT_ONCE];
#pragma unroll
  for (u32 item = 0; item < AT_ONCE; item++) {
    if (first + item * 32 < count) loaded[item] = load(first + item * 32);
  }
#pragma unroll
  for (u32 item = 0; item < AT_ONCE; item++) {
    if (first + item * 32 < count) store(first + item * 32, loaded[item]);
  }
}

/// An element, and its number in its tile.
template <class T> struct Numbered {
  u32 number;
  T element;
};
template <class T> WARPMAP_DEVICE void sendAll(const owner_send_arguments& a) {
  eachRun(a, [&](const Run& run, const u16* order, u32 first, u64 tile) {
    const T* const column = (const T*)a.column.at + tile;
    allAtOnce(first, run.count, [&](u32 i) { return column[order[i]]; }, [&](u32 i, T element) { ((T*)run.at)[i] = element; });
  });
}
template <class T> WARPMAP_DEVICE void takeAll(const owner_take_arguments& a) {
  eachRun(a, [&](const Run& run, const u16* order, u32 first, u64 tile) {
    T* const to = (T*)a.to.at + tile;
    allAtOnce(
        first, run.count, [&](u32 i) { return Numbered<T>{order[i], ((const T*)run.at)[i]}; },
        [&](u32, const Numbered<T>& one) { to[one.number] = one.element; });
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

WARPMAP_KERNEL(owner_sort, owner_sort_arguments, 512, 3) {
  __shared__ TileMemory memory;
  if (binsOf(a) <= 32) sortTiles<1>(a, memory);
  else sortTiles<(MOST_BINS + 31) / 32>(a, memory);
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
  if (threadIdx.x == 0) ((u32*)a.starts.at)[a.BINS] = counts[all] = before;
}

WARPMAP_KERNEL(owner_send, owner_send_arguments, 512, 2) {
  if (a.column.at == nullptr) {
    eachRun(a, [&](const Run& run, const u16* order, u32 first, u64 tile) {
      allAtOnce(first, run.count, [&](u32 i) { return u32(tile) + order[i] + a.BASE; }, [&](u32 i, u32 number) { ((u32*)run.at)[i] = number; });
    });
  } else if (a.BYTES == 4) sendAll<u32>(a);
  else if (a.BYTES == 8) sendAll<u64>(a);
  else if (a.BYTES == 1) sendAll<u8>(a);
  else {
    eachRun(a, [&](const Run& run, const u16* order, u32 first, u64 tile) {
      allAtOnce(
          first, run.count, [&](u32 i) { return tile + order[i]; },
          [&](u32 i, u64 from) { copyWords(a.column.at + from * a.BYTES, (unsigned char*)run.at + u64(i) * a.BYTES, a.BYTES); });
    });
  }
}

WARPMAP_KERNEL(owner_take, owner_take_arguments, 512, 2) {
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

WARPMAP_KERNEL(owner_part_starts, owner_part_starts_arguments, 256) {
  const u64* const sources = (const u64*)a.sources.at;
  const u32 parts = a.FINE >> a.SHIFT;
  eachElementOf(u64(a.FINE) + 1, [&](u64 fine) {
    const auto own = [&](u64 part) { return u32(part < a.LOW ? a.LOW : part > a.HIGH ? a.HIGH : part); };
    const u32 from = own(fine), until = own(fine + (1u << a.SHIFT)), part = u32(fine) >> a.SHIFT;
    u32 before = 0;
    for (u32 s = 0; s < a.SOURCES; s++) before += ((const u32*)sources[s])[from] - ((const u32*)sources[s])[a.LOW];
    ((u32*)a.starts.at)[fine] = before;
    if (fine != u64(part) << a.SHIFT || part >= parts) return;
    for (u32 s = 0; s < a.SOURCES; s++) {
      const u32* const starts = (const u32*)sources[s];
      ((u32*)a.cursors.at)[u64(s) * parts + part] = before - starts[from];
      before += starts[until] - starts[from];
    }
  });
}

WARPMAP_KERNEL(owner_fill, owner_fill_arguments, 256, 8) {
  if (a.BYTES == 1) fillAll<u8>(a);
  else if (a.BYTES == 4) fillAll<u32>(a);
  else fillAll<u64>(a);
}
