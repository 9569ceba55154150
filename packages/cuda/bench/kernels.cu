// Times of the kernels alone on one GPU, medians of warm runs, answers checked:
//
//   nvcc -std=c++17 -O3 -arch=native -o kernels bench/kernels.cu && ./kernels [log2 of the largest batch]
//
// direct: the kernel of the table on the batch as it comes. parts: sorted by partition first (count, offsets, scatter),
// and found values brought back into the order of the batch (gather).
#include "../kernels/all.cu"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#ifndef SHARE
#define SHARE 2048
#endif

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
template <class Value> __global__ void check(const Value* values, const u8* found, u32 count, bool wanted, u32* wrong) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const bool isRight = found[i] == wanted && (wanted ? values[i] == Value(i) * 3 + 1 : values[i] == 7);
  if (!isRight) atomicAdd(wrong, 1u);
}

#define CALL(kernel, blocks, threads, shared, arguments) kernel<<<(blocks), (threads), (shared)>>>(arguments)

template <int K, int V> struct KernelsOf;
#define KERNELS_OF(K, V)                                                                                       \
  template <> struct KernelsOf<K, V> {                                                                         \
    static constexpr auto insert = insert_##K##_##V;                                                           \
    static constexpr auto find = find_##K##_##V;                                                               \
    static constexpr auto erase = erase_##K##_##V;                                                             \
    static constexpr auto retrieve = retrieve_##K##_##V;                                                       \
    static constexpr auto count = partition_count_##K;                                                         \
    static constexpr auto scatterKeys = partition_scatter_##K##_0;                                             \
    static constexpr auto scatterPairs = partition_scatter_##K##_##V;                                          \
    static constexpr auto gather = partition_gather_##V;                                                       \
  };
KERNELS_OF(1, 1)
KERNELS_OF(2, 2)

template <int K, int V> class Bench {
  using Key = typename WordsOf<K>::Type;
  using Value = typename WordsOf<V>::Type;
  using Kernels = KernelsOf<K, V>;
  using Slots = typename SlotsOf<K, V>::Type;

 public:
  Bench(const char* name, u32 count, u32 slots, u32 bits) : name(name), count(count), slots(slots), bits(bits) {
    table = device((u64(slots) + 3) * Slots::BYTES);
    control = device(64);
    keys = device(u64(count) * 4 * K), absent = device(u64(count) * 4 * K), values = device(u64(count) * 4 * V);
    sortedKeys = device(u64(count) * 4 * K), sortedValues = device(u64(count) * 4 * V), sortedFound = device(count);
    places = device(u64(count) * 2), out = device(u64(count) * 4 * V), found = device(count), cursors = device(2048 * 4);
    wrong = device(4);
    runs = device(u64(tiles()) * 4 << (bits + 1)), runStarts = device(u64(tiles()) * 2 << (bits + 1));
    makeBatch<<<(count + 255) / 256, 256>>>((Key*)absent.at, (Value*)values.at, count, 1u << 31);
    makeBatch<<<(count + 255) / 256, 256>>>((Key*)keys.at, (Value*)values.at, count, 0);
    const auto most = cudaFuncAttributeMaxDynamicSharedMemorySize;
    require(cudaFuncSetAttribute(Kernels::scatterKeys, most, int(scatterBytes(K, 11))));
    require(cudaFuncSetAttribute(Kernels::scatterPairs, most, int(scatterBytes(K + V, 11))));
    require(cudaFuncSetAttribute(Kernels::gather, most, int(gatherBytes(V))));
  }
  ~Bench() {
    for (Range r : {table, control, keys, absent, values, sortedKeys, sortedValues, sortedFound, places, out, found, cursors, wrong, runs, runStarts})
      cudaFree(r.at);
  }

  void run() {
    std::printf("%s: %u in %u slots, load %.2f\n", name, count, slots, double(count) / slots);
    line("insert direct", [&] { clear(); }, [&] { insert(keys, values); }, [&] { expect(0, count, "inserted"); });
    line("find direct", [] {}, [&] { find(keys, out, found); }, [&] { checkFound(true); });
    const bool isFull = count > 0.9 * slots;
    if (!isFull) line("find absent direct", [] {}, [&] { find(absent, out, found); }, [&] { checkFound(false); });
    line("retrieve", [&] { zero(); }, [&] { retrieve(); }, [&] { expect(7, count, "retrieved"); });
    line("erase direct", [&] { clear(), insert(keys, values), zero(); }, [&] { erase(keys); }, [&] { expect(4, count, "erased"); }, 3);
    for (u32 b : {bits - 1, bits}) {
      parts = b;
      ahead = count >> b;
      std::printf(" %u partitions\n", 1u << b);
      line("insert parts", [&] { clear(); }, [&] { sort(keys, true, false), insert(sortedKeys, sortedValues); },
           [&] { expect(0, count, "inserted"); });
      line("find parts", [] {}, [&] { findByPartition(keys); }, [&] { checkFound(true); });
      if (b == bits && !isFull) line("find absent parts", [] {}, [&] { findByPartition(absent); }, [&] { checkFound(false); });
      line("erase parts", [&] { clear(), insert(keys, values), zero(); }, [&] { sort(keys, false, false), erase(sortedKeys); },
           [&] { expect(4, count, "erased"); }, 3);
      clear(), insert(keys, values), zero();
      phases();
    }
  }

 private:
  void line(const char* what, const std::function<void()>& before, const std::function<void()>& run,
            const std::function<void()>& verify, int times = 5) {
    const double ms = milliseconds(before, run, times);
    std::printf("  %-26s %7.3f ms %6.1f G/s %7.1f GB/s\n", what, ms, count / ms / 1e6, count / ms / 1e6 * 4 * (K + V));
    verify();
    std::fflush(stdout);
  }
  void phases() {
    const auto none = [] {};
    const auto ok = [] {};
    if (parts == bits) line("  count", none, [&] { countPartitions(keys); }, ok);
    countPartitions(keys);
    line("  scatter pairs", [&] { countPartitions(keys); }, [&] { scatter(keys, true, false); }, ok);
    line("  scatter keys, places", [&] { countPartitions(keys); }, [&] { scatter(keys, false, true); }, ok);
    line("  gather", none, [&] { gather(); }, ok);
    const u32 best = ahead;
    for (u32 more : {0u, count >> parts}) {
      ahead = more;
      char text[40];
      const auto name = [&](const char* what) {
        std::snprintf(text, sizeof text, "  %s, ahead %u", what, more);
        return text;
      };
      sort(keys, true, false);
      line(name("insert"), [&] { clear(); }, [&] { insert(sortedKeys, sortedValues); }, ok);
      line(name("find"), none, [&] { find(sortedKeys, sortedValues, sortedFound); }, ok);
      line(name("erase"), [&] { clear(), insert(keys, values), zero(); }, [&] { erase(sortedKeys); }, ok, 3);
      clear(), insert(keys, values), zero();
    }
    ahead = best;
  }
  template <class A> void bind(A& a) const {
    a.slots = table, a.control = control, a.SLOTS = slots, a.HASH = 0, a.MULTIPLIER = 1, a.OFFSET = 0;
    a.KEY_WORDS = K, a.VALUE_WORDS = V, a.FLOATS32 = a.FLOATS64 = 0, a.COUNT = count;
  }
  template <class A> void bindPartitions(A& a) const {
    a.cursors = cursors, a.HASH = 0, a.MULTIPLIER = 1, a.OFFSET = 0, a.FLOATS32 = a.FLOATS64 = 0, a.COUNT = count, a.BITS = parts;
  }
  u32 blocks() const {
    const u32 large = (count + SHARE - 1) / SHARE, small = (count + 255) / 256;
    return std::max(large, std::min(small, 132u * 8));
  }
  /// Elements between a block and those whose slots it asks for: a partition, and what is under way.
  u32 ahead = 0;
  u32 tiles() const { return (count + SCATTER_TILE - 1) / SCATTER_TILE; }
  void clear() {
    cudaMemsetAsync(table.at, 0xff, table.bytes);
    cudaMemsetAsync(control.at, 0, 64);
  }
  void zero() { cudaMemsetAsync(control.at, 0, 32); }
  void insert(Range k, Range v) {
    insert_arguments a{};
    bind(a);
    a.keys = k, a.values = v;
    a.AHEAD = k.at == sortedKeys.at ? ahead : 0;
    CALL(Kernels::insert, blocks(), 256, 0, a);
  }
  void find(Range k, Range v, Range f) {
    find_arguments a{};
    bind(a);
    a.keys = k, a.values = v, a.found = f, a.MISSING = 7;
    a.AHEAD = k.at == sortedKeys.at ? ahead : 0;
    CALL(Kernels::find, blocks(), 256, 0, a);
  }
  void erase(Range k) {
    erase_arguments a{};
    bind(a);
    a.keys = k;
    a.AHEAD = k.at == sortedKeys.at ? ahead : 0;
    CALL(Kernels::erase, blocks(), 256, 0, a);
  }
  void retrieve() {
    retrieve_arguments a{};
    bind(a);
    a.keys = sortedKeys, a.values = sortedValues;
    CALL(Kernels::retrieve, (slots + 3 + 4095) / 4096, 256, 0, a);
  }
  void countPartitions(Range k) {
    partition_count_arguments a{};
    bindPartitions(a);
    a.keys = k;
    cudaMemsetAsync(cursors.at, 0, cursors.bytes);
    CALL(Kernels::count, 264, 1024, 0, a);
    partition_offsets_arguments o{cursors, parts};
    CALL(partition_offsets, 1, 1024, 0, o);
  }
  void scatter(Range k, bool pairs, bool withPlaces) {
    partition_scatter_arguments a{};
    bindPartitions(a);
    a.keys = k, a.values = values, a.sortedKeys = sortedKeys, a.sortedValues = sortedValues;
    if (withPlaces) a.places = places, a.runs = runs, a.runStarts = runStarts;
    if (pairs) CALL(Kernels::scatterPairs, tiles(), 1024, scatterBytes(K + V, parts), a);
    else CALL(Kernels::scatterKeys, tiles(), 1024, scatterBytes(K, parts), a);
  }
  void sort(Range k, bool pairs, bool withPlaces) { countPartitions(k), scatter(k, pairs, withPlaces); }
  void gather() {
    partition_gather_arguments a{};
    a.places = places, a.sortedValues = sortedValues, a.sortedFound = sortedFound, a.values = out, a.found = found;
    a.COUNT = count, a.MISSING = 7, a.BITS = parts, a.runs = runs, a.runStarts = runStarts;
    CALL(Kernels::gather, tiles(), 1024, gatherBytes(V), a);
  }
  void findByPartition(Range k) {
    sort(k, false, true);
    const u32 best = ahead;
    ahead = 0;
    find(sortedKeys, sortedValues, sortedFound);
    ahead = best;
    gather();
  }
  void expect(int word, u32 wanted, const char* what) {
    u32 words[16];
    require(cudaMemcpy(words, control.at, 64, cudaMemcpyDeviceToHost));
    if (words[word] != wanted) std::printf("  WRONG: %s %u\n", what, words[word]);
  }
  void checkFound(bool wanted) {
    u32 count_;
    cudaMemset(wrong.at, 0, 4);
    check<<<(count + 255) / 256, 256>>>((const Value*)out.at, found.at, count, wanted, (u32*)wrong.at);
    require(cudaMemcpy(&count_, wrong.at, 4, cudaMemcpyDeviceToHost));
    if (count_ != 0) std::printf("  WRONG: %u look-ups\n", count_);
  }

  const char* name;
  u32 count, slots, bits, parts = 0;
  Range table, control, keys, absent, values, sortedKeys, sortedValues, sortedFound, places, out, found, cursors, wrong, runs, runStarts;
};

int main(int argc, char** argv) {
  const u32 log = argc > 1 ? u32(std::atoi(argv[1])) : 27;
  const u32 n = 1u << log;
  cudaDeviceProp device;
  require(cudaGetDeviceProperties(&device, 0));
  std::printf("%s\n", device.name);
  Bench<1, 1>("u32 to u32", n, 2 * n, 9).run();
  Bench<1, 1>("u32 to u32", n, u32(n / 0.95), 9).run();
  Bench<2, 2>("u64 to u64", n / 2, n, 9).run();
  Bench<1, 1>("u32 to u32", 1u << 20, 1u << 21, 5).run();
}
