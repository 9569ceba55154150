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
// | partition_scatter | 512, TILES a part: a tile of 8,192 elements each, and more where the part has more | 8 read, 8 written, 4 more for its place |
// | partition_gather | 512, 8,192 elements each | 9 read, 5 written |
//
// partition_offsets makes starts of the counts, of 4 partitions or more: `firstCursors` (may be null) gets those of the
// parts. As scatter takes room, a cursor moves to its partition's end.
//
// partition_scatter ranks the keys of its tile by partition in shared memory, takes room for the run of each partition
// by one addition to `cursors`, brings the tile into the order of partitions in shared memory, and writes the runs.
// `places` (may be null) gets the place of each element in the sorted batch, NO_PLACE for one that the mask leaves out.
// partition_gather reads results from there. Those of a tile are in a run a partition, so most come from L1.
// `ends` (null with one level) has the parts' ends. Shared memory has the size that the launch says: countBytes and
// scatterBytes.
//
// partition_count_owned and partition_scatter_owned sort keys by the GPU that owns them first, in the upper OWNER_BITS of the
// BITS, and those of an owner by partition.
//
// Shared memory, not bandwidth, bounds a scatter: threads have all keys of a tile in registers at once, and few
// instructions for each.
#include "batch.cuh"
#include "owner-hash.cuh"

namespace warpmap {

constexpr u32 COUNT_BLOCK = 1024;
constexpr u32 COUNT_ITEMS = 8;
constexpr u32 SCATTER_BLOCK = 512;
constexpr u32 SCATTER_ITEMS = 16;
constexpr u32 SCATTER_TILE = SCATTER_BLOCK * SCATTER_ITEMS;
/// Of a level at most.
constexpr u32 MOST_PARTITIONS = 1 << 11;
constexpr u32 NO_PLACE = 0xffffffffu;

/// Bytes of shared memory that a launch asks for; `bits` are those of its level.
constexpr u32 countBytes(u32 bits) { return 4u << bits; }
constexpr u32 scatterBytes(u32 elementWords, u32 bits) { return SCATTER_TILE * 4 * elementWords + (8u << bits) + 4; }

/// This thread's elements of `size` neighbouring ones, every THREADS-th: all are loaded before one is used.
template <u32 THREADS, u32 ITEMS> struct Items {
  u64 first;
  u32 count;

  WARPMAP_DEVICE Items(u64 begin, u32 size)
      : first(begin + threadIdx.x), count(threadIdx.x < size ? (size - threadIdx.x - 1) / THREADS + 1 : 0) {}
  WARPMAP_DEVICE u64 at(u32 item) const { return first + item * THREADS; }
  template <class Element> WARPMAP_DEVICE void load(const unsigned char* column, Element (&to)[ITEMS]) const {
    const Element* const mine = (const Element*)column + first;
#pragma unroll
    for (u32 item = 0; item < ITEMS; item++) to[item] = item < count ? mine[item * THREADS] : Element();
  }
  /// A bit for each that the mask selects.
  WARPMAP_DEVICE u32 selected(const Range& mask) const {
    u32 bits = (1u << count) - 1;
    if (mask.at == nullptr) return bits;
#pragma unroll
    for (u32 item = 0; item < ITEMS; item++) {
      if (item < count && mask.at[at(item)] == 0) bits &= ~(1u << item);
    }
    return bits;
  }
};

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

  /// Loads keys, in the bits under which they are stored.
  template <u32 THREADS, u32 ITEMS>
  WARPMAP_DEVICE void load(const Items<THREADS, ITEMS>& items, const Range& column, Key (&keys)[ITEMS]) const {
    items.load(column.at, keys);
    if ((floats.singles | floats.doubles) == 0) return;
#pragma unroll
    for (Key& key : keys) key = canonical(key, floats);
  }
  /// Partitions of several keys: which hash it is is asked once.
  template <u32 ITEMS> WARPMAP_DEVICE void of(const Key (&keys)[ITEMS], u32 (&partitions)[ITEMS]) const {
    if (hash == MURMUR3) byHash(MURMUR3, keys, partitions);
    else byHash(hash, keys, partitions);
  }

 private:
  template <u32 ITEMS> WARPMAP_DEVICE void byHash(u32 name, const Key (&keys)[ITEMS], u32 (&partitions)[ITEMS]) const {
#pragma unroll
    for (u32 i = 0; i < ITEMS; i++) {
      partitions[i] = KeySlot<K, 0, Key>::hash(WideShape(), name, multiplier, offset, keys[i]) >> shift & mask;
    }
  }
};

/// The same of a table on several GPUs: by the owner, in the upper OWNER_BITS of the `bits`, and by the upper bits of the hash.
template <int K> struct OwnedPartitioning : Partitioning<K> {
  using Key = typename Partitioning<K>::Key;
  u32 owners, seed, hashBits;

  template <class Arguments> WARPMAP_DEVICE OwnedPartitioning(const Arguments& a, u32, u32 bits)
      : Partitioning<K>(a, 0, bits - a.OWNER_BITS), owners(a.OWNERS), seed(a.SEED), hashBits(bits - a.OWNER_BITS) {}

  template <u32 ITEMS> WARPMAP_DEVICE void of(const Key (&keys)[ITEMS], u32 (&partitions)[ITEMS]) const {
    Partitioning<K>::of(keys, partitions);
#pragma unroll
    for (u32 i = 0; i < ITEMS; i++) {
      u32 step = ownerStep(seed, u32(keys[i]));
      if constexpr (K == 2) step = ownerStep(step, u32(u64(keys[i]) >> 32));
      partitions[i] |= ownerOf(step, owners) << hashBits;
    }
  }
};

template <int K, class Partitions, class Arguments> WARPMAP_DEVICE void countPartitions(const Arguments& a) {
  constexpr u32 TILE = COUNT_BLOCK * COUNT_ITEMS;
  const Partitions partitions(a, 0, a.BITS);
  WARPMAP_DYNAMIC_SHARED(bytes);
  u32* const counts = (u32*)bytes;
  const u32 used = 1u << a.BITS;
  for (u32 p = threadIdx.x; p < used; p += COUNT_BLOCK) counts[p] = 0;
  __syncthreads();
  for (u64 begin = u64(blockIdx.x) * TILE; begin < a.COUNT; begin += u64(gridDim.x) * TILE) {
    const Items<COUNT_BLOCK, COUNT_ITEMS> items(begin, a.COUNT - begin < TILE ? u32(a.COUNT - begin) : TILE);
    typename WordsOf<K>::Type keys[COUNT_ITEMS];
    u32 homes[COUNT_ITEMS];
    partitions.load(items, a.keys, keys);
    partitions.of(keys, homes);
    const u32 selected = items.selected(a.mask);
#pragma unroll
    for (u32 item = 0; item < COUNT_ITEMS; item++) {
      if (selected >> item & 1) atomicAdd(&counts[homes[item]], 1u);
    }
  }
  __syncthreads();
  for (u32 p = threadIdx.x; p < used; p += COUNT_BLOCK) {
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

using ItemsOfTile = Items<SCATTER_BLOCK, SCATTER_ITEMS>;

/// Calls visit(part, first, count) for the tiles of this block: neighbouring elements of one part.
template <class Arguments, class Visit> WARPMAP_DEVICE void eachTile(const Arguments& a, const Visit& visit) {
  const u32* ends = (const u32*)a.ends.at;
  const u32 part = blockIdx.x / a.TILES;
  const u32 begin = part == 0 ? 0 : ends[part - 1], count = (ends == nullptr ? a.COUNT : ends[part]) - begin;
  const u32 tiles = u32(ceilDivide(count, SCATTER_TILE));
  for (u32 t = blockIdx.x % a.TILES; t < tiles; t += a.TILES) {
    const u32 before = t * SCATTER_TILE;
    visit(part, begin + before, count - before < SCATTER_TILE ? count - before : SCATTER_TILE);
    __syncthreads();
  }
}

template <int K, int V, class Partitions, class Arguments>
WARPMAP_DEVICE void scatterTile(const Arguments& a, u32 part, u32 first, u32 count) {
  using Key = typename WordsOf<K>::Type;
  using Value = typename WordsOf<V>::Type;
  const Partitions partitions(a, a.FIRST_BITS, a.BITS);
  const u32 used = 1u << a.BITS;
  u32* const cursors = (u32*)a.cursors.at + (part << a.BITS);
  // the tile in the order of partitions; what takes a place in the tile to one in the sorted batch; and of each partition
  // its elements in the tile, later the place of its first. Elements that are left out are in a partition behind the others
  WARPMAP_DYNAMIC_SHARED(bytes);
  Key* const sorted = (Key*)bytes;
  Value* const sortedValues = (Value*)(bytes + SCATTER_TILE * 4 * K);
  u32* const shifts = (u32*)(bytes + SCATTER_TILE * 4 * (K + V));
  u32* const counts = shifts + used;
  const ItemsOfTile items(first, count);
  Key keys[SCATTER_ITEMS];
  partitions.load(items, a.keys, keys);
  if (V > 0) {
    // registers have no room for them yet
    const unsigned char* const values = a.values.at + u64(first) * (4 * V);
    for (u32 at = threadIdx.x * 128; at < count * (4 * V); at += SCATTER_BLOCK * 128) prefetchLine(values + at);
  }
  const u32 selected = items.selected(a.mask);
  for (u32 p = threadIdx.x; p <= used; p += SCATTER_BLOCK) counts[p] = 0;
  __syncthreads();

  // partition and rank there, 16 bits each
  u32 places[SCATTER_ITEMS];
  partitions.of(keys, places);
#pragma unroll
  for (u32 item = 0; item < SCATTER_ITEMS; item++) {
    const u32 p = selected >> item & 1 ? places[item] : used;
    places[item] = p << 16 | atomicAdd(&counts[p], 1u);
  }
  __syncthreads();

  // each thread has neighbouring partitions; it waits for their room when the tile is in order
  constexpr u32 MOST_EACH = MOST_PARTITIONS / SCATTER_BLOCK;
  const u32 each = used > SCATTER_BLOCK ? used / SCATTER_BLOCK : 1;
  const u32 begin = threadIdx.x * each, end = begin < used ? begin + each : begin;
  u32 sum = 0, starts[MOST_EACH], total;
  for (u32 p = begin; p < end; p++) sum += counts[p];
  u32 before = sumBefore<SCATTER_BLOCK>(sum, total);
#pragma unroll
  for (u32 i = 0; i < MOST_EACH; i++) {
    const u32 p = begin + i;
    if (p >= end) continue;
    const u32 mine = counts[p];
    starts[i] = mine > 0 ? atomicAdd(cursors + p, mine) : 0;
    counts[p] = before;
    shifts[p] = 0 - before;
    before += mine;
  }
  if (threadIdx.x == 0) counts[used] = total;
  __syncthreads();

  Value values[SCATTER_ITEMS];
  if constexpr (V > 0) items.load(a.values.at, values);
#pragma unroll
  for (u32 item = 0; item < SCATTER_ITEMS; item++) {
    places[item] += counts[places[item] >> 16];
    const u32 at = places[item] & 0xffff;
    sorted[at] = keys[item];
    if constexpr (V > 0) sortedValues[at] = values[item];
  }
#pragma unroll
  for (u32 i = 0; i < MOST_EACH; i++) {
    if (begin + i < end) shifts[begin + i] += starts[i];
  }
  __syncthreads();

  if (a.places.at != nullptr) {
#pragma unroll
    for (u32 item = 0; item < SCATTER_ITEMS; item++) {
      if (item >= items.count) continue;
      const u32 p = places[item] >> 16;
      ((u32*)a.places.at)[items.at(item)] = p < used ? shifts[p] + (places[item] & 0xffff) : NO_PLACE;
    }
  }
  constexpr u32 TOGETHER = 4;
  for (u32 from = 0; from < total; from += SCATTER_BLOCK * TOGETHER) {
    const Items<SCATTER_BLOCK, TOGETHER> run(from, total - from);
    Key written[TOGETHER];
    u32 homes[TOGETHER];
#pragma unroll
    for (u32 i = 0; i < TOGETHER; i++) written[i] = sorted[run.at(i)];
    partitions.of(written, homes);
#pragma unroll
    for (u32 i = 0; i < TOGETHER; i++) {
      if (i >= run.count) continue;
      const u32 to = shifts[homes[i]] + u32(run.at(i));
      ((Key*)a.sortedKeys.at)[to] = written[i];
      if constexpr (V > 0) ((Value*)a.sortedValues.at)[to] = sortedValues[run.at(i)];
    }
  }
}

/// Brings a column of results into the order of the batch.
template <class Element>
WARPMAP_DEVICE void gatherColumn(const ItemsOfTile& items, const u32 (&places)[SCATTER_ITEMS], const Range& from,
                                 const Range& to, Element missing) {
  if (to.at == nullptr) return;
  Element elements[SCATTER_ITEMS];
#pragma unroll
  for (u32 item = 0; item < SCATTER_ITEMS; item++) {
    elements[item] = item < items.count && places[item] != NO_PLACE ? elementOf<Element>(from.at, places[item]) : missing;
  }
#pragma unroll
  for (u32 item = 0; item < SCATTER_ITEMS; item++) {
    if (item < items.count) ((Element*)to.at)[items.at(item)] = elements[item];
  }
}

template <int V> WARPMAP_DEVICE void gather(const partition_gather_arguments& a) {
  using Value = typename WordsOf<V>::Type;
  // parts have the elements that the mask selects
  const u32 count = a.ends.at == nullptr ? a.COUNT : ((const u32*)a.ends.at)[(1u << a.FIRST_BITS) - 1];
  const u64 begin = u64(blockIdx.x) * SCATTER_TILE;
  if (begin >= count) return;
  const ItemsOfTile items(begin, count - begin < SCATTER_TILE ? u32(count - begin) : SCATTER_TILE);
  u32 places[SCATTER_ITEMS];
  items.load(a.places.at, places);
  gatherColumn(items, places, a.sortedValues, a.values, Value(a.MISSING | u64(a.MISSING_HIGH) << 32));
  gatherColumn(items, places, a.sortedFound, a.found, u8(0));
}

}  // namespace warpmap

using namespace warpmap;

WARPMAP_KERNEL(partition_count_1, partition_count_arguments, COUNT_BLOCK) { countPartitions<1, Partitioning<1>>(a); }
WARPMAP_KERNEL(partition_count_2, partition_count_arguments, COUNT_BLOCK) { countPartitions<2, Partitioning<2>>(a); }

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

#define SCATTER_KERNEL(K, V)                                                                                   \
  WARPMAP_KERNEL(partition_scatter_##K##_##V, partition_scatter_arguments, SCATTER_BLOCK, K + V < 4 ? 2 : 1) { \
    eachTile(a, [&](u32 part, u32 first, u32 count) {                                                          \
      scatterTile<K, V, Partitioning<K>>(a, part, first, count);                                               \
    });                                                                                                        \
  }
SCATTER_KERNEL(1, 0)
SCATTER_KERNEL(1, 1)
SCATTER_KERNEL(1, 2)
SCATTER_KERNEL(2, 0)
SCATTER_KERNEL(2, 1)
SCATTER_KERNEL(2, 2)

#define OWNED_KERNELS(K)                                                                               \
  WARPMAP_KERNEL(partition_count_owned_##K, partition_count_owned_arguments, COUNT_BLOCK) {            \
    countPartitions<K, OwnedPartitioning<K>>(a);                                                       \
  }                                                                                                    \
  WARPMAP_KERNEL(partition_scatter_owned_##K, partition_scatter_owned_arguments, SCATTER_BLOCK, 2) {   \
    eachTile(a, [&](u32 part, u32 first, u32 count) {                                                  \
      scatterTile<K, 0, OwnedPartitioning<K>>(a, part, first, count);                                  \
    });                                                                                                \
  }
OWNED_KERNELS(1)
OWNED_KERNELS(2)

WARPMAP_KERNEL(partition_gather_1, partition_gather_arguments, SCATTER_BLOCK, 2) { gather<1>(a); }
WARPMAP_KERNEL(partition_gather_2, partition_gather_arguments, SCATTER_BLOCK, 2) { gather<2>(a); }
