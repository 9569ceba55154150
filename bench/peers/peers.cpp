// Hash maps of C++ on the keys of bench/static-map: one process per map, told by lines on stdin what to do, so that the
// benchmark peers.ts can let all contestants take turns.
//
//   peers MAP SIZE THREADS    MAP: std, absl, boost (one thread), tbb
//
// Lines: clear (a new empty map with room for SIZE keys), insert, find, absent, erase. Each is answered by two lines: the
// keys inserted, found or erased, as soon as it is done; then the sum of the values found. The line "quit" ends it.
#include <absl/container/flat_hash_map.h>
#include <boost/unordered/unordered_flat_map.hpp>
#include <tbb/concurrent_hash_map.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

using Key = std::uint32_t;
using Value = std::uint32_t;

// bench/mix.ts
static std::uint32_t mix(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x21f0aaadu;
  x = (x ^ (x >> 15)) * 0xd35a2d97u;
  return x ^ (x >> 15);
}

// bench/static-map-workload.ts
struct Workload {
  std::vector<Key> keys, lookups, absent;
  std::vector<Value> values;

  explicit Workload(std::uint64_t size) : keys(size), lookups(size), absent(size), values(size) {
    const std::uint64_t prime = 2654467;
    const std::uint64_t stride = size % prime == 0 ? 1 : prime;
    for (std::uint64_t i = 0; i < size; i++) {
      keys[i] = mix(i);
      values[i] = i;
      lookups[i] = mix(i * stride % size);
      absent[i] = mix(size + i);
    }
  }
};

template <class Map>
struct Sequential {
  Map map;
  // clear keeps the memory where the map does so itself: pages that were written to before
  void clear(std::size_t size) {
    map.clear();
    map.reserve(size);
  }
  bool insert(Key key, Value value) { return map.emplace(key, value).second; }
  bool find(Key key, Value& value) const {
    auto found = map.find(key);
    if (found == map.end()) return false;
    value = found->second;
    return true;
  }
  bool erase(Key key) { return map.erase(key) == 1; }
};

struct Tbb {
  using Map = tbb::concurrent_hash_map<Key, Value>;
  Map map;
  void clear(std::size_t size) {
    map.clear();
    map.rehash(size);
  }
  bool insert(Key key, Value value) { return map.insert({key, value}); }
  bool find(Key key, Value& value) const {
    Map::const_accessor found;
    if (!map.find(found, key)) return false;
    value = found->second;
    return true;
  }
  bool erase(Key key) { return map.erase(key); }
};

// Runs work(from, to) over 0 to size on some threads and sums up what it returns.
template <class Work>
static std::uint64_t in_threads(unsigned threads, std::size_t size, Work work) {
  if (threads == 1) return work(std::size_t{0}, size);
  std::vector<std::uint64_t> counts(threads);
  std::vector<std::thread> running;
  for (unsigned t = 0; t < threads; t++)
    running.emplace_back([&, t] { counts[t] = work(size * t / threads, size * (t + 1) / threads); });
  for (auto& thread : running) thread.join();
  std::uint64_t sum = 0;
  for (auto count : counts) sum += count;
  return sum;
}

template <class Map>
static void serve(std::size_t size, unsigned threads) {
  const Workload work(size);
  std::vector<Value> values(size);
  std::vector<std::uint8_t> found(size);
  auto map = std::make_unique<Map>();

  const auto find = [&](const std::vector<Key>& wanted) {
    return in_threads(threads, size, [&](std::size_t from, std::size_t to) {
      std::uint64_t hits = 0;
      for (std::size_t i = from; i < to; i++) {
        Value value = 0;
        found[i] = map->find(wanted[i], value);
        values[i] = value;
        hits += found[i];
      }
      return hits;
    });
  };

  for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    std::uint64_t count = 0;
    bool sums = false;
    if (line == "clear") {
      map->clear(size);
    } else if (line == "insert") {
      count = in_threads(threads, size, [&](std::size_t from, std::size_t to) {
        std::uint64_t inserted = 0;
        for (std::size_t i = from; i < to; i++) inserted += map->insert(work.keys[i], work.values[i]);
        return inserted;
      });
    } else if (line == "find" || line == "absent") {
      count = find(line == "find" ? work.lookups : work.absent);
      sums = true;
    } else if (line == "erase") {
      count = in_threads(threads, size, [&](std::size_t from, std::size_t to) {
        std::uint64_t erased = 0;
        for (std::size_t i = from; i < to; i++) erased += map->erase(work.lookups[i]);
        return erased;
      });
    } else {
      std::cerr << "unknown line: " << line << "\n";
      std::exit(2);
    }
    // what the caller's clock stops at comes first, the sum after it
    std::printf("%llu\n", static_cast<unsigned long long>(count));
    std::fflush(stdout);
    std::uint64_t sum = 0;
    if (sums) for (auto value : values) sum += value;
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
    std::fflush(stdout);
  }
}

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: peers std|absl|boost|tbb SIZE THREADS\n";
    return 2;
  }
  const std::string name = argv[1];
  const std::size_t size = std::strtoull(argv[2], nullptr, 10);
  const unsigned threads = std::strtoul(argv[3], nullptr, 10);
  if (name != "tbb" && threads != 1) {
    std::cerr << name << " takes one thread only\n";
    return 2;
  }
  if (name == "std") serve<Sequential<std::unordered_map<Key, Value>>>(size, 1);
  else if (name == "absl") serve<Sequential<absl::flat_hash_map<Key, Value>>>(size, 1);
  else if (name == "boost") serve<Sequential<boost::unordered_flat_map<Key, Value>>>(size, 1);
  else if (name == "tbb") serve<Tbb>(size, threads);
  else {
    std::cerr << "no map " << name << "\n";
    return 2;
  }
}
