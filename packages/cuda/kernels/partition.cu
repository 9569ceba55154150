// Sorting a large batch by partition of its keys' home slots, so that the kernels of tables find the slots that they
// probe in L2, or have them in shared memory (windows.cu). A partition is the upper bits of the hash; an element's place
// in the sorted batch is any in its partition.
//
// Many partitions take two levels, so that runs of neighbouring writes stay long: the first scatter sorts by the upper
// FIRST_BITS bits, the second each of these parts by the next BITS bits. Both take the room that one count of all
// partitions gives them. With one level FIRST_BITS is 0, and the batch is the only part.
//
// | kernel | block | bytes per element (u32 → u32) |
// |---|---|---|
// | partition_count | 1,024, persistent; 2^BITS counters in shared memory | 4 read |
// | partition_offsets | 1,024, one block | |
// | partition_scatter | 1,024, TILES a part: a tile of 8,192 elements each, and more where the part has more | 8 read, 8 written, 2.5 more for its place |
// | partition_gather | the same | 2.5 + 5 read, 5 written |
//
// partition_offsets makes starts of the counts, of 4 partitions or more: `firstCursors` (may be null) gets those of the parts. As scatter takes
// room, a cursor moves to its partition's end.
//
// partition_scatter ranks the keys of its tile by partition in shared memory, takes room for the run of each partition
// by one addition to `cursors`, brings the tile into the order of partitions in shared memory, and writes the runs.
// `places` (may be null) gets the place of each element among the tile's, NO_PLACE for one that the mask leaves out;
// `runs` gets where the tile's runs are, and `runStarts` the place of the first element of each, a number a partition.
// partition_gather takes the same tiles: it reads the runs of results into shared memory, and writes them in the order
// of the batch. `ends` (null with one level) has the parts' ends. Shared memory has the size
// that the launch says: countBytes, scatterBytes and gatherBytes.
#include "batch.cuh"

namespace warpmap {

constexpr u32 SCATTER_BLOCK = 1024;
constexpr u32 SCATTER_ITEMS = 8;
constexpr u32 SCATTER_TILE = SCATTER_BLOCK * SCATTER_ITEMS;
constexpr u32 NO_PLACE = 0xffff;
/// Stands for no partition and rank.
constexpr u32 NONE = 0xffffffffu;

/// Bytes of shared memory that a launch asks for; `bits` are those of its level.
constexpr u32 countBytes(u32 bits) { return 4u << bits; }
constexpr u32 scatterBytes(u32 elementWords, u32 bits) { return SCATTER_TILE * 4 * elementWords + (8u << bits); }
constexpr u32 gatherBytes(u32 valueWords) { return SCATTER_TILE * (4 * valueWords + 1); }

/// The partitions of keys of a table: what its hash has to say, and no slots.
template <int K> struct Partitioning {
  using Key = typename WordsOf<K>::Type;
  u32 hash, multiplier, offset, shift, mask;
  FloatsInKey floats;

  /// By the `bits` bits of the hash that come after the upper `firstBits`.
  template <class Arguments> WARPMAP_DEVICE Partitioning(const Arguments& a, u32 firstBits, u32 bits)
      : hash(a.HASH),
        multiplier(a.MULTIPLIER),
        offset(a.OFFSET),
        shift(32 - firstBits - bits),
        mask((1u << bits) - 1),
        floats{a.FLOATS32, a.FLOATS64} {}
  WARPMAP_DEVICE Key keyAt(const Range& keys, u64 i) const { return canonical(elementOf<Key>(keys.at, i), floats); }
  WARPMAP_DEVICE u32 of(Key key) const {
    return KeySlot<K, 0, Key>::hash(WideShape(), hash, multiplier, offset, key) >> shift & mask;
  }
};

template <int K> WARPMAP_DEVICE void countPartitions(const partition_count_arguments& a) {
  const Partitioning<K> partitions(a, 0, a.BITS);
  WARPMAP_DYNAMIC_SHARED(bytes);
  u32* const counts = (u32*)bytes;
  const u32 used = 1u << a.BITS;
  for (u32 p = threadIdx.x; p < used; p += blockDim.x) counts[p] = 0;
  __syncthreads();
  const u64 stride = u64(gridDim.x) * blockDim.x;
#pragma unroll 4
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < a.COUNT; i += stride) {
    if (isSelected(a.mask, u32(i))) atomicAdd(&counts[partitions.of(partitions.keyAt(a.keys, i))], 1u);
  }
  __syncthreads();
  for (u32 p = threadIdx.x; p < used; p += blockDim.x) {
    if (counts[p] > 0) atomicAdd((u32*)a.cursors.at + p, counts[p]);
  }
}

/// Sums of the numbers of all threads with a lower number, of a block of whole warps; `total` gets the sum of all.
template <u32 THREADS> WARPMAP_DEVICE u32 sumBefore(u32 mine, u32& total) {
  __shared__ u32 warps[THREADS / 32];
  const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  u32 sum = mine;
#pragma unroll
  for (u32 step = 1; step < 32; step *= 2) {
    const u32 other = __shfl_up_sync(ALL_LANES, sum, step);
    if (lane >= step) sum += other;
  }
  __syncthreads();
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  u32 before = 0;
  total = 0;
#pragma unroll
  for (u32 w = 0; w < THREADS / 32; w++) {
    if (w == warp) before = total;
    total += warps[w];
  }
  return before + sum - mine;
}

/// Elements that a block brings into another order at a time. All tiles have numbers of their own.
struct Tile {
  u32 first, count, part, number;
};

/// Calls visit(tile) for the tiles of this block.
template <class Arguments, class Visit> WARPMAP_DEVICE void eachTile(const Arguments& a, const Visit& visit) {
  const u32* ends = (const u32*)a.ends.at;
  const u32 part = blockIdx.x / a.TILES;
  const u32 begin = part == 0 ? 0 : ends[part - 1], count = (ends == nullptr ? a.COUNT : ends[part]) - begin;
  const u32 tiles = u32(ceilDivide(count, SCATTER_TILE));
  for (u32 t = blockIdx.x % a.TILES; t < tiles; t += a.TILES) {
    const u32 before = t * SCATTER_TILE;
    const u32 size = count - before < SCATTER_TILE ? count - before : SCATTER_TILE;
    visit(Tile{begin + before, size, part, begin / SCATTER_TILE + part + t});
    __syncthreads();
  }
}

template <int K, int V> WARPMAP_DEVICE void scatterTile(const partition_scatter_arguments& a, const Tile& tile) {
  using Key = typename WordsOf<K>::Type;
  using Value = typename WordsOf<V>::Type;
  const Partitioning<K> partitions(a, a.FIRST_BITS, a.BITS);
  const u32 used = 1u << a.BITS;
  u32* const cursors = (u32*)a.cursors.at + (tile.part << a.BITS);
  // the tile in the order of partitions; of each partition its elements in the tile, and later the place of its first;
  // and what takes a place in the tile to one in the sorted batch
  WARPMAP_DYNAMIC_SHARED(bytes);
  Key* const sorted = (Key*)bytes;
  Value* const sortedValues = (Value*)(bytes + SCATTER_TILE * 4 * K);
  u32* const counts = (u32*)(bytes + SCATTER_TILE * 4 * (K + V));
  u32* const shifts = counts + used;
  for (u32 p = threadIdx.x; p < used; p += SCATTER_BLOCK) counts[p] = 0;
  __syncthreads();

  // partition and rank there; a tile's ranks have 13 bits. Keys are read a second time, out of L1, and keep no registers
  u32 ranks[SCATTER_ITEMS];
#pragma unroll
  for (u32 item = 0; item < SCATTER_ITEMS; item++) {
    const u32 local = item * SCATTER_BLOCK + threadIdx.x, i = tile.first + local;
    ranks[item] = NONE;
    if (local >= tile.count || !isSelected(a.mask, i)) continue;
    const u32 p = partitions.of(partitions.keyAt(a.keys, i));
    ranks[item] = p << 16 | atomicAdd(&counts[p], 1u);
  }
  __syncthreads();

  // each thread has neighbouring partitions
  const u32 each = used / SCATTER_BLOCK > 0 ? used / SCATTER_BLOCK : 1;
  const u32 begin = threadIdx.x * each, end = begin + each <= used ? begin + each : begin;
  u32 mine = 0, total;
  for (u32 p = begin; p < end; p++) mine += counts[p];
  u32 local = sumBefore<SCATTER_BLOCK>(mine, total);
  for (u32 p = begin; p < end; p++) {
    const u32 count = counts[p];
    const u32 start = count > 0 ? atomicAdd(cursors + p, count) : 0;
    const u64 run = u64(tile.number) * used + p;
    shifts[p] = start - local;
    counts[p] = local;
    if (a.runs.at != nullptr) ((u32*)a.runs.at)[run] = start, ((u16*)a.runStarts.at)[run] = u16(local);
    local += count;
  }
  __syncthreads();

#pragma unroll
  for (u32 item = 0; item < SCATTER_ITEMS; item++) {
    const u32 local = item * SCATTER_BLOCK + threadIdx.x, i = tile.first + local;
    if (local >= tile.count) continue;
    u32 at = NO_PLACE;
    if (ranks[item] != NONE) {
      at = counts[ranks[item] >> 16] + (ranks[item] & 0xffff);
      sorted[at] = partitions.keyAt(a.keys, i);
      if constexpr (V > 0) sortedValues[at] = elementOf<Value>(a.values.at, i);
    }
    if (a.places.at != nullptr) ((u16*)a.places.at)[i] = u16(at);
  }
  __syncthreads();
#pragma unroll 4
  for (u32 at = threadIdx.x; at < total; at += SCATTER_BLOCK) {
    const Key key = sorted[at];
    const u32 to = shifts[partitions.of(key)] + at;
    ((Key*)a.sortedKeys.at)[to] = key;
    if constexpr (V > 0) ((Value*)a.sortedValues.at)[to] = sortedValues[at];
  }
}

/// Brings the results of a tile's runs into shared memory: 16 threads a run.
template <class Value>
WARPMAP_DEVICE void readRuns(const partition_gather_arguments& a, u32 tile, Value* values, u8* found, u32 selected) {
  constexpr u32 LANES = 16;
  const u32 used = 1u << a.BITS, lane = threadIdx.x % LANES;
  const u64 first = u64(tile) * used;
#pragma unroll 4
  for (u32 p = threadIdx.x / LANES; p < used; p += SCATTER_BLOCK / LANES) {
    const u32 run = ((const u32*)a.runs.at)[first + p];
    const u32 start = ((const u16*)a.runStarts.at)[first + p];
    const u32 end = p + 1 < used ? ((const u16*)a.runStarts.at)[first + p + 1] : selected;
    for (u32 at = start + lane; at < end; at += LANES) {
      const u64 from = u64(run) + at - start;
      if (a.values.at != nullptr) values[at] = ((const Value*)a.sortedValues.at)[from];
      if (a.found.at != nullptr) found[at] = a.sortedFound.at[from];
    }
  }
}

template <int V> WARPMAP_DEVICE void gatherTile(const partition_gather_arguments& a, const Tile& tile) {
  using Value = typename WordsOf<V>::Type;
  WARPMAP_DYNAMIC_SHARED(bytes);
  Value* const values = (Value*)bytes;
  u8* const found = bytes + SCATTER_TILE * 4 * V;
  const Value missing = Value(a.MISSING | u64(a.MISSING_HIGH) << 32);
  u32 places[SCATTER_ITEMS], mine = 0, selected;
#pragma unroll
  for (u32 item = 0; item < SCATTER_ITEMS; item++) {
    const u32 local = item * SCATTER_BLOCK + threadIdx.x;
    places[item] = local < tile.count ? ((const u16*)a.places.at)[tile.first + local] : NO_PLACE;
    mine += places[item] != NO_PLACE;
  }
  sumBefore<SCATTER_BLOCK>(mine, selected);
  readRuns<Value>(a, tile.number, values, found, selected);
  __syncthreads();
#pragma unroll
  for (u32 item = 0; item < SCATTER_ITEMS; item++) {
    const u32 local = item * SCATTER_BLOCK + threadIdx.x, i = tile.first + local;
    if (local >= tile.count) continue;
    const bool isThere = places[item] != NO_PLACE;
    if (a.values.at != nullptr) ((Value*)a.values.at)[i] = isThere ? values[places[item]] : missing;
    if (a.found.at != nullptr) a.found.at[i] = isThere ? found[places[item]] : u8(0);
  }
}

}  // namespace warpmap

using namespace warpmap;

WARPMAP_KERNEL(partition_count_1, partition_count_arguments, 1024, 2) { countPartitions<1>(a); }
WARPMAP_KERNEL(partition_count_2, partition_count_arguments, 1024, 2) { countPartitions<2>(a); }

WARPMAP_KERNEL(partition_offsets, partition_offsets_arguments, 1024, 2) {
  u32* const cursors = (u32*)a.cursors.at;
  const u32 used = 1u << a.BITS, inPart = used >> a.FIRST_BITS;
  u32 before = 0;
  // each thread has four neighbouring partitions
  for (u32 first = 0; first < used; first += 4 * blockDim.x) {
    const u32 p = first + 4 * threadIdx.x;
    const uint4 counts = p < used ? *(const uint4*)(cursors + p) : uint4{0, 0, 0, 0};
    u32 total;
    const u32 start = before + sumBefore<1024>(counts.x + counts.y + counts.z + counts.w, total);
    before += total;
    if (p >= used) continue;
    const u32 starts[4] = {start, start + counts.x, start + counts.x + counts.y, start + counts.x + counts.y + counts.z};
    for (u32 i = 0; i < 4; i++) {
      cursors[p + i] = starts[i];
      if (a.firstCursors.at != nullptr && (p + i) % inPart == 0) ((u32*)a.firstCursors.at)[(p + i) / inPart] = starts[i];
    }
  }
}

#define SCATTER_KERNEL(K, V) \
  WARPMAP_KERNEL(partition_scatter_##K##_##V, partition_scatter_arguments, 1024, 2) { \
    eachTile(a, [&](const Tile& tile) { scatterTile<K, V>(a, tile); });                          \
  }
SCATTER_KERNEL(1, 0)
SCATTER_KERNEL(1, 1)
SCATTER_KERNEL(1, 2)
SCATTER_KERNEL(2, 0)
SCATTER_KERNEL(2, 1)
SCATTER_KERNEL(2, 2)

WARPMAP_KERNEL(partition_gather_1, partition_gather_arguments, 1024, 2) {
  eachTile(a, [&](const Tile& tile) { gatherTile<1>(a, tile); });
}
WARPMAP_KERNEL(partition_gather_2, partition_gather_arguments, 1024, 2) {
  eachTile(a, [&](const Tile& tile) { gatherTile<2>(a, tile); });
}
