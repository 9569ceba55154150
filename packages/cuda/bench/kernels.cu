// Times of the kernels alone on one GPU, medians of warm runs, answers checked:
//
//   nvcc -std=c++17 -O3 -arch=native -o kernels bench/kernels.cu && ./kernels [log2 of the largest batch]
//
// direct: the kernel of the table on the batch as it comes. parts: sorted by partition first (count, offsets, scatter),
// and found values brought back into the order of the batch (gather). windows: sorted in two levels, so that the slots of
// a partition fit shared memory; then the steps of this one by one. "into entries": the table is not empty, but all keys
// are new.
#include "../kernels/all.cu"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

static void require(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorString(error));
  std::exit(1);
}
static Range device(u64 bytes) {
  void* at;
  require(cudaMalloc(&at, bytes + 256));
  return {(unsigned char*)at, bytes};
}
static double milliseconds(const std::function<void()>& before, const std::function<void()>& run, int times = 5) {
  cudaEvent_t from, until;
  cudaEventCreate(&from), cudaEventCreate(&until);
  std::vector<float> all(times);
  for (float& time : all) {
    before();
    cudaEventRecord(from);
    run();
    cudaEventRecord(until);
    require(cudaEventSynchronize(until));
    cudaEventElapsedTime(&time, from, until);
  }
  require(cudaGetLastError());
  std::sort(all.begin(), all.end());
  return all[times / 2];
}

/// Key number i; those of other batches are other keys.
WARPMAP_DEVICE u64 mixed(u64 i) {
  i *= 0x9e3779b97f4a7c15ull;
  i ^= i >> 29;
  i *= 0xbf58476d1ce4e5b9ull;
  return i ^ i >> 32;
}
template <class Key> WARPMAP_DEVICE Key numbered(u32 i) {
  if constexpr (sizeof(Key) == 8) return mixed(i);
  u32 h = i * 0x9e3779b1u + 0x1234567;  // a bijection of 32 bits
  h ^= h >> 15;
  h *= 0x2c1b3c6du;
  return Key(h ^ h >> 13);
}
template <class Key, class Value> __global__ void makeBatch(Key* keys, Value* values, u32 count, u32 first) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) keys[i] = numbered<Key>(first + i), values[i] = Value(i) * 3 + 1;
}
template <class Value> __global__ void check(const Value* values, const u8* found, u32 count, u32* wrong) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && (found[i] != 1 || values[i] != Value(i) * 3 + 1)) atomicAdd(wrong, 1u);
}

#define CALL(kernel, blocks, threads, shared, arguments) kernel<<<(blocks), (threads), (shared)>>>(arguments)

template <int K, int V> struct KernelsOf;
#define KERNELS_OF(K, V)                                                                                       \
  template <> struct KernelsOf<K, V> {                                                                         \
    static constexpr auto insert = insert_##K##_##V;                                                           \
    static constexpr auto find = find_##K##_##V;                                                               \
    static constexpr auto findEach = find_each_##K##_##V;                                                      \
    static constexpr auto erase = erase_##K##_##V;                                                             \
    static constexpr auto count = partition_count_##K;                                                         \
    static constexpr auto scatterKeys = partition_scatter_##K##_0;                                             \
    static constexpr auto scatterPairs = partition_scatter_##K##_##V;                                          \
    static constexpr auto gather = partition_gather_##V;                                                       \
    static constexpr auto windowsInsert = windows_insert_##K##_##V;                                            \
    static constexpr auto windowsErase = windows_erase_##K##_##V;                                              \
    static constexpr auto windowsFind = windows_find_##K##_##V;                                                \
  };
KERNELS_OF(1, 1)
KERNELS_OF(2, 2)

template <int K, int V> class Bench {
  using Key = typename WordsOf<K>::Type;
  using Value = typename WordsOf<V>::Type;
  using Kernels = KernelsOf<K, V>;
  using Slots = typename SlotsOf<K, V>::Type;

 public:
  Bench(const char* name, u32 count, u32 slots, u32 partsBits) : name(name), count(count), slots(slots), partsBits(partsBits) {
    table = device((u64(slots) + 3) * Slots::BYTES);
    control = device(64);
    keys = device(u64(count) * 4 * K), absent = device(u64(count) * 4 * K), values = device(u64(count) * 4 * V);
    out = device(u64(count) * 4 * V), found = device(count), sortedFound = device(count), foundBetween = device(count);
    wrong = device(4), firstCursors = device(4 << 10), cursors = device(4 << MOST_BITS);
    for (Level& level : levels) {
      level.keys = device(u64(count) * 4 * K), level.values = device(u64(count) * 4 * V), level.places = device(u64(count) * 4);
    }
    makeBatch<<<(count + 255) / 256, 256>>>((Key*)absent.at, (Value*)values.at, count, count);
    makeBatch<<<(count + 255) / 256, 256>>>((Key*)keys.at, (Value*)values.at, count, 0);
    int most;
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    shared = u32(most) - 1024;
    allow(Kernels::count), allow(Kernels::scatterKeys), allow(Kernels::scatterPairs);
    allow(Kernels::windowsInsert), allow(Kernels::windowsErase), allow(Kernels::windowsFind);
  }
  ~Bench() {
    for (Range r : {table, control, keys, absent, values, out, found, sortedFound, foundBetween, wrong, firstCursors, cursors}) cudaFree(r.at);
    for (const Level& level : levels) {
      const Range all[] = {level.keys, level.values, level.places};
      for (const Range& r : all) cudaFree(r.at);
    }
  }

  void run() {
    std::printf("%s: %u in %u slots, load %.2f\n", name, count, slots, double(count) / slots);
    const auto none = [] {};
    const auto filled = [&] { clear(), insert(keys, values), zero(); };
    line("direct: insert", [&] { clear(); }, [&] { insert(keys, values); }, [&] { expect(0, count, "inserted"); });
    line("direct: find", none, [&] { find(keys, out, found); }, [&] { checkFound(); });
    line("direct: find absent", none, [&] { find(absent, out, found); }, [&] { checkAbsent(); });
    line("direct: erase", filled, [&] { erase(keys); }, [&] { expect(4, count, "erased"); });
    firstBits = 0, bits = partsBits;
    std::printf(" %u partitions\n", 1u << bits);
    line("parts: insert", [&] { clear(); }, [&] { sort(true), insert(sortedKeys(), sortedValues()); }, [&] { expect(0, count, "inserted"); });
    line("parts: find", none, [&] { findSorted([&] { find(sortedKeys(), sortedValues(), sortedFound); }); }, [&] { checkFound(); });
    line("parts: erase", filled, [&] { sort(false), erase(sortedKeys()); }, [&] { expect(4, count, "erased"); });
    for (u32 all = 12; all <= MOST_BITS; all++) {
      const u64 bytes = windowBytes(all);
      if (sharedOfFind(all) <= shared / 2 && bytes >= 32768) runWindows((all + 1) / 2, all / 2);
    }
  }

 private:
  static constexpr u32 MOST_BITS = 15;
  struct Level {
    Range keys, values, places;
  };

  void runWindows(u32 first, u32 second) {
    if (first == firstBits && second == bits) return;
    firstBits = first, bits = second;
    std::printf(" %u x %u windows of %.0f KiB\n", 1u << first, 1u << second, double(windowBytes(first + second)) / 1024);
    const auto none = [] {};
    const auto filled = [&] { clear(), insert(keys, values), zero(); };
    line("windows: insert", [&] { clear(); }, [&] { sort(true), insertWindows(true); }, [&] { expect(0, count, "inserted"); });
    line("windows: into entries", [&] { clear(); }, [&] { sort(true), insertWindows(false); }, [&] { expect(0, count, "inserted"); });
    clear(), sort(true), insertWindows(true), zero();
    line("windows: find", none, [&] { findByWindows(keys); }, [&] { checkFound(); });
    line("windows: find absent", none, [&] { findByWindows(absent); }, [&] { checkAbsent(); });
    line("windows: erase", filled, [&] { sort(false), eraseWindows(); }, [&] { expect(4, count, "erased"); });
    std::printf("   %u elements left to the direct kernel\n", word(7));
    line("  count, offsets", none, [&] { countPartitions(); }, none);
    line("  scatter 1, pairs", [&] { countPartitions(); }, [&] { scatter(0, true, false); }, none);
    line("  scatter 2, pairs", [&] { countPartitions(), scatter(0, true, false); }, [&] { scatter(1, true, false); }, none);
    line("  insert", [&] { clear(); }, [&] { insertInWindows(true); }, none);
    line("  insert into entries", [&] { clear(); }, [&] { insertInWindows(false); }, none);
    line("  insert of the rest", [&] { clear(), insertInWindows(true); }, [&] { insertRest(); }, none);
    line("  erase", filled, [&] { eraseInWindows(); }, none);
    line("  erase of the rest", [&] { filled(), eraseInWindows(); }, [&] { eraseRest(); }, none);
    line("  scatter 1, keys, places", [&] { countPartitions(); }, [&] { scatter(0, false, true); }, none);
    line("  scatter 2, keys, places", [&] { countPartitions(), scatter(0, false, true); }, [&] { scatter(1, false, true); }, none);
    filled(), sort(false, true);
    line("  find, out of order", none, [&] { findInWindows(sortedValues(), sortedFound); }, none);
    clear(), sort(true), insertWindows(true), sort(false, true);
    line("  find", none, [&] { findInWindows(sortedValues(), sortedFound); }, none);
    line("  gather 2", none, [&] { gather(1); }, none);
    line("  gather 1", none, [&] { gather(0); }, none);
  }
  template <class F> void allow(F kernel) {
    require(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)));
  }
  void line(const char* what, const std::function<void()>& before, const std::function<void()>& run,
            const std::function<void()>& verify) {
    const double ms = milliseconds(before, run, 3);
    std::printf("  %-26s %7.3f ms %6.1f G/s %7.1f GB/s\n", what, ms, count / ms / 1e6, count / ms / 1e6 * 4 * (K + V));
    verify();
    std::fflush(stdout);
  }
  template <class A> void bind(A& a) const {
    a.slots = table, a.control = control, a.SLOTS = slots, a.HASH = 0, a.MULTIPLIER = 1, a.OFFSET = 0;
    a.KEY_WORDS = K, a.VALUE_WORDS = V, a.FLOATS32 = a.FLOATS64 = 0;
  }
  template <class A> void bindPartitions(A& a) const { a.HASH = 0, a.MULTIPLIER = 1, a.COUNT = count; }
  u32 blocks() const {
    const u32 large = (count + 2047) / 2048, small = (count + 255) / 256;
    return std::max(large, std::min(small, BUSY));
  }
  u64 windowBytes(u32 all) const { return ((u64(slots) + (1ull << all) - 1) >> all) * Slots::BYTES; }
  Level& last() { return levels[firstBits > 0]; }
  Range sortedKeys() { return last().keys; }
  Range sortedValues() { return last().values; }
  /// Numbers of elements that windows leave, where keys of the first level were.
  Range list() { return levels[0].keys; }
  void clear() {
    cudaMemsetAsync(table.at, 0xff, table.bytes);
    cudaMemsetAsync(control.at, 0, 64);
  }
  void zero() { cudaMemsetAsync(control.at, 0, 32); }

  insert_arguments insertArguments(Range k, Range v) {
    insert_arguments a{};
    bind(a);
    a.keys = k, a.values = v, a.COUNT = count;
    return a;
  }
  template <class A> A findArguments(Range k, Range v, Range f) {
    A a{};
    bind(a);
    a.keys = k, a.values = v, a.found = f, a.COUNT = count, a.MISSING = 7;
    return a;
  }
  erase_arguments eraseArguments(Range k) {
    erase_arguments a{};
    bind(a);
    a.keys = k, a.COUNT = count;
    return a;
  }
  void insert(Range k, Range v) {
    insert_arguments a = insertArguments(k, v);
    a.AHEAD = k.at == sortedKeys().at ? count >> bits : 0;
    CALL(Kernels::insert, blocks(), 256, 0, a);
  }
  void find(Range k, Range v, Range f) {
    if (count <= slots * 0.8) CALL(Kernels::findEach, (count + 255) / 256, 256, 0, findArguments<find_each_arguments>(k, v, f));
    else CALL(Kernels::find, blocks(), 256, 0, findArguments<find_arguments>(k, v, f));
  }
  void erase(Range k) { CALL(Kernels::erase, blocks(), 256, 0, eraseArguments(k)); }

  template <class A> void bindWindows(A& a) {
    bind(a);
    a.keys = sortedKeys(), a.ends = cursors, a.list = list(), a.BITS = firstBits + bits, a.MOST = count;
  }
  u32 windows() const { return 1u << (firstBits + bits); }
  /// Shared memory of an operation that has so many slots more, and so many bytes for each slot.
  u32 sharedOfWindow(u32 all, u32 slotsBehind, u32 bytesOfSlot) const {
    const u64 slots = windowBytes(all) / Slots::BYTES;
    return u32(((slots + slotsBehind) * Slots::BYTES + 15) / 16 * 16 + (slots * bytesOfSlot + 15) / 16 * 16);
  }
  u32 sharedOfFind(u32 all) const { return sharedOfWindow(all, 255, 2); }
  void insertInWindows(bool isEmpty) {
    windows_insert_arguments a{};
    bindWindows(a);
    a.values = sortedValues(), a.IS_EMPTY = isEmpty;
    CALL(Kernels::windowsInsert, windows(), 512, sharedOfWindow(firstBits + bits, 0, 1), a);
  }
  void insertRest() {
    insert_arguments a = insertArguments(sortedKeys(), sortedValues());
    a.list = list();
    CALL(Kernels::insert, BUSY, 256, 0, a);
  }
  void insertWindows(bool isEmpty) { insertInWindows(isEmpty), insertRest(); }
  void findInWindows(Range v, Range f) {
    windows_find_arguments a{};
    bindWindows(a);
    a.values = v, a.found = f, a.MISSING = 7;
    CALL(Kernels::windowsFind, windows(), 512, sharedOfFind(firstBits + bits), a);
  }
  void findRest(Range v, Range f) {
    find_arguments a = findArguments<find_arguments>(sortedKeys(), v, f);
    a.list = list();
    CALL(Kernels::find, BUSY, 256, 0, a);
  }
  void findByWindows(Range batch) {
    const Range mine = keys;
    keys = batch;
    findSorted([&] { cudaMemsetAsync((u32*)control.at + 7, 0, 4), findInWindows(sortedValues(), sortedFound), findRest(sortedValues(), sortedFound); });
    keys = mine;
  }
  void eraseInWindows() {
    windows_erase_arguments a{};
    bindWindows(a);
    CALL(Kernels::windowsErase, windows(), 512, sharedOfWindow(firstBits + bits, 0, 0), a);
  }
  void eraseRest() {
    erase_arguments a = eraseArguments(sortedKeys());
    a.list = list();
    CALL(Kernels::erase, BUSY, 256, 0, a);
  }
  void eraseWindows() { eraseInWindows(), eraseRest(); }

  void countPartitions() {
    const u32 all = firstBits + bits;
    partition_count_arguments a{};
    bindPartitions(a);
    a.keys = keys, a.cursors = cursors, a.BITS = all;
    cudaMemsetAsync(cursors.at, 0, 4 << all);
    CALL(Kernels::count, 264, COUNT_BLOCK, 4u << all, a);
    partition_offsets_arguments o{cursors, firstCursors, all, firstBits};
    if (firstBits == 0) o.firstCursors = {};
    CALL(partition_offsets, 1, 1024, 0, o);
  }
  /// What levels have of parts and tiles; the grid.
  u32 bindLevel(partition_scatter_arguments& a, u32 level) {
    a.FIRST_BITS = level == 0 ? 0 : firstBits, a.BITS = level == 0 && firstBits > 0 ? firstBits : bits;
    if (level > 0) a.ends = firstCursors;
    a.TILES = ((count - 1) / SCATTER_TILE >> a.FIRST_BITS) + 1;
    return a.TILES << a.FIRST_BITS;
  }
  void scatter(u32 level, bool pairs, bool withPlaces) {
    partition_scatter_arguments a{};
    bindPartitions(a);
    const u32 grid = bindLevel(a, level);
    Level& to = levels[level];
    a.keys = level == 0 ? keys : levels[0].keys, a.values = level == 0 ? values : levels[0].values;
    a.cursors = level == 0 && firstBits > 0 ? firstCursors : cursors;
    a.sortedKeys = to.keys, a.sortedValues = to.values;
    if (withPlaces) a.places = to.places;
    if (pairs) CALL(Kernels::scatterPairs, grid, SCATTER_BLOCK, scatterBytes(K + V, a.BITS), a);
    else CALL(Kernels::scatterKeys, grid, SCATTER_BLOCK, scatterBytes(K, a.BITS), a);
  }
  void sort(bool pairs, bool withPlaces = false) {
    countPartitions(), scatter(0, pairs, withPlaces);
    if (firstBits > 0) scatter(1, pairs, withPlaces);
  }
  void gather(u32 level) {
    partition_gather_arguments a{};
    const Level& from = levels[level];
    const bool isLast = &from == &last();
    if (level > 0) a.ends = firstCursors, a.FIRST_BITS = firstBits;
    a.places = from.places, a.COUNT = count, a.MISSING = 7;
    a.sortedValues = isLast ? sortedValues() : levels[0].values, a.sortedFound = isLast ? sortedFound : foundBetween;
    a.values = level == 0 ? out : levels[0].values, a.found = level == 0 ? found : foundBetween;
    CALL(Kernels::gather, (count + SCATTER_TILE - 1) / SCATTER_TILE, SCATTER_BLOCK, 0, a);
  }
  void findSorted(const std::function<void()>& lookUp) {
    sort(false, true), lookUp();
    if (firstBits > 0) gather(1);
    gather(0);
  }
  u32 word(int which) {
    u32 words[16];
    require(cudaMemcpy(words, control.at, 64, cudaMemcpyDeviceToHost));
    return words[which];
  }
  void expect(int which, u32 wanted, const char* what) {
    if (word(which) != wanted) std::printf("  WRONG: %s %u\n", what, word(which));
  }
  void checkFound() {
    u32 errors;
    cudaMemset(wrong.at, 0, 4);
    check<<<(count + 255) / 256, 256>>>((const Value*)out.at, found.at, count, (u32*)wrong.at);
    require(cudaMemcpy(&errors, wrong.at, 4, cudaMemcpyDeviceToHost));
    if (errors != 0) std::printf("  WRONG: %u look-ups\n", errors);
    cudaMemset(out.at, 0, out.bytes), cudaMemset(found.at, 0, found.bytes);
  }

  void checkAbsent() {
    std::vector<u8> flags(count);
    require(cudaMemcpy(flags.data(), found.at, count, cudaMemcpyDeviceToHost));
    if (std::count(flags.begin(), flags.end(), 0) != count) std::printf("  WRONG: absent keys were found\n");
  }

  static constexpr u32 BUSY = 132 * 8;
  const char* name;
  u32 count, slots, partsBits, firstBits = 0, bits = 0, shared;
  Range table, control, keys, absent, values, out, found, sortedFound, foundBetween, wrong, firstCursors, cursors;
  Level levels[2];
};

int main(int argc, char** argv) {
  const u32 log = argc > 1 ? u32(std::atoi(argv[1])) : 27;
  const u32 n = 1u << log;
  cudaDeviceProp device;
  require(cudaGetDeviceProperties(&device, 0));
  std::printf("%s\n", device.name);
  for (const double load : {0.5, 0.8, 0.95}) Bench<1, 1>("u32 to u32", n, u32(n / load), 8).run();
  for (const double load : {0.5, 0.8, 0.95}) Bench<2, 2>("u64 to u64", n / 2, u32(n / 2 / load), 8).run();
}
