// Random batches through the kernels of all slot formats, compared with std::unordered_map: small tables, full ones,
// tombstones, keys that equal marks, masks, every rule and hash function. Runs on the emulator and on GPUs:
//
//   g++ -std=c++17 -O1 differential.cpp -o differential -ldl
//   ./differential LIBRARY IMAGE SECONDS [SEED]      # libcuda.so.1 or the emulator; kernels.fatbin, or - for none
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "../kernels/arguments.h"

using u8 = unsigned char;
using u32 = uint32_t;
using u64 = unsigned long long;
using Words = std::vector<u32>;

#define REQUIRE(condition, ...)                                    \
  do {                                                             \
    if (!(condition)) {                                            \
      std::printf("%s:%d: %s | ", __FILE__, __LINE__, #condition); \
      std::printf(__VA_ARGS__);                                    \
      std::printf("\n");                                           \
      std::abort();                                                \
    }                                                              \
  } while (0)

static void* library;
static void* module_;
template <class... A> static void call(const char* name, A... a) {
  auto* function = (int (*)(A...))dlsym(library, name);
  REQUIRE(function != nullptr, "%s", name);
  const int result = function(a...);
  REQUIRE(result == 0, "%s answers %d", name, result);
}

struct Memory {
  u64 at = 0;
  u64 bytes = 0;
  explicit Memory(u64 size) : bytes(size + 32) { call("cuMemAlloc_v2", &at, size_t(bytes)); }
  ~Memory() { call("cuMemFree_v2", at); }
  Memory(const Memory&) = delete;
  template <class T> explicit Memory(const std::vector<T>& data) : Memory(data.size() * sizeof(T)) { write(data); }
  template <class T> void write(const std::vector<T>& data) {
    if (!data.empty()) call("cuMemcpyHtoD_v2", at, (const void*)data.data(), data.size() * sizeof(T));
  }
  template <class T> std::vector<T> read(size_t count) const {
    std::vector<T> data(count);
    if (count > 0) call("cuMemcpyDtoH_v2", (void*)data.data(), at, count * sizeof(T));
    return data;
  }
  Range range() const { return {(u8*)at, bytes}; }
};

template <class A>
static void launch(const std::string& name, const A& arguments, u32 blocks, u32 threads = 256, u32 shared = 0) {
  static std::map<std::string, void*> functions;
  void*& function = functions[name];
  if (function == nullptr) {
    call("cuModuleGetFunction", &function, module_, name.c_str());
    // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    if (shared > 0) call("cuFuncSetAttribute", function, 8, 98304 + 16384);
  }
  void* parameters[] = {(void*)&arguments};
  call("cuLaunchKernel", function, std::max(1u, blocks), 1u, 1u, threads, 1u, 1u, shared, (void*)nullptr, parameters, (void**)nullptr);
  call("cuCtxSynchronize");
}

struct KeyHash {
  size_t operator()(const Words& words) const {
    size_t h = 1;
    for (u32 word : words) h = (h ^ word) * 0x9e3779b97f4a7c15ull;
    return h;
  }
};
using Model = std::unordered_map<Words, Words, KeyHash>;

enum { KEEP, ASSIGN, ADD_INTEGER, ADD_FLOAT, MIN_UNSIGNED, MAX_UNSIGNED, MIN_SIGNED, MAX_SIGNED, MIN_FLOAT, MAX_FLOAT, AND, OR, XOR };

template <class T, class F> static T addOf(T a, T b, T nan) {
  F x, y;
  std::memcpy(&x, &a, sizeof x), std::memcpy(&y, &b, sizeof y);
  x += y;
  if (std::isnan(x)) return nan;
  std::memcpy(&a, &x, sizeof x);
  return a;
}
template <class T, class S, class F> static T combined(u32 rule, T a, T b, T nan) {
  const T sign = T(1) << (sizeof(T) * 8 - 1);
  const auto order = [&](T x) { return x & sign ? T(~x) : T(x | sign); };
  switch (rule) {
    case ADD_INTEGER: return a + b;
    case ADD_FLOAT: return addOf<T, F>(a, b, nan);
    case MIN_UNSIGNED: return std::min(a, b);
    case MAX_UNSIGNED: return std::max(a, b);
    case MIN_SIGNED: return S(b) < S(a) ? b : a;
    case MAX_SIGNED: return S(b) > S(a) ? b : a;
    case MIN_FLOAT: return order(b) < order(a) ? b : a;
    case MAX_FLOAT: return order(b) > order(a) ? b : a;
    case AND: return a & b;
    case OR: return a | b;
    default: return a ^ b;
  }
}
static Words combinedWords(u32 rule, const Words& a, const Words& b) {
  if (a.size() == 1) return {combined<u32, int, float>(rule, a[0], b[0], 0x7fc00000u)};
  const u64 r = combined<u64, long long, double>(rule, a[0] | u64(a[1]) << 32, b[0] | u64(b[1]) << 32, 0x7ff8000000000000ull);
  return {u32(r), u32(r >> 32)};
}

static std::mt19937_64 randomness;
static u32 below(u32 limit) { return u32(randomness() % limit); }
static bool chance(u32 percent) { return below(100) < percent; }

/// One table of a format, its model, and batches of all operations on both.
class Trial {
 public:
  Trial(int keyWords, int valueWords)
      : keyWords_(keyWords),
        valueWords_(valueWords),
        isWide_(keyWords > 2 || valueWords > 2),
        suffix_(isWide_ ? "_wide" : "_" + std::to_string(keyWords) + "_" + std::to_string(valueWords)),
        slotCount_(std::vector<u32>{1, 2, 3, 7, 64, 1000, 4099}[below(7)]),
        sides_(isWide_ ? 0 : keyWords + valueWords > 2 ? 3 : 2),
        slotWords_(wordsOfSlot()),
        slots_((u64(slotCount_) + sides_) * slotWords_ * 4),
        control_(64) {
    hash_ = below(5);
    if (chance(50)) multiplier_ = u32(randomness()) | 1, offset_ = u32(randomness());
    if (chance(40)) chooseFloats();
    universe(1 + below(slotCount_ * (chance(50) ? 1 : 3) + 2));
    slots_.write(std::vector<u8>((u64(slotCount_) + sides_) * slotWords_ * 4, 0xff));
    control_.write(std::vector<u32>(16, 0));
  }

  void run(u32 steps) {
    for (u32 step = 0; step < steps; step++) {
      switch (below(8)) {
        case 0: case 1: case 2: insert(); break;
        case 3: erase(); break;
        case 4: retrieve(); break;
        case 5: chance(50) ? statistics() : sort(); break;
        default: find();
      }
    }
    find();
    retrieve();
  }

 private:
  u32 wordsOfSlot() const {
    if (isWide_) return (((keyWords_ + 2) & ~1) + valueWords_ + 1) & ~1;
    return keyWords_ + valueWords_ > 2 ? 4 : keyWords_ + valueWords_;
  }
  bool isMain(const Words& key) const {
    if (isWide_) return true;
    const u64 word = keyWords_ == 1 ? ~u64(0xffffffffu) | key[0] : key[0] | u64(key[1]) << 32;
    return ~word >= (keyWords_ == 1 ? 2 : sides_);
  }
  void chooseFloats() {
    for (int w = 0; w < keyWords_; w++) {
      if (chance(50)) singles_ |= 1u << w;
      else if (w + 1 < keyWords_ && chance(50)) doubles_ |= 1u << w, w++;
    }
  }
  Words canonical(Words key) const {
    for (int w = 0; w < keyWords_; w++) {
      if (singles_ >> w & 1) {
        if (key[w] == 0x80000000u) key[w] = 0;
        else if ((key[w] & 0x7fffffffu) > 0x7f800000u) key[w] = 0x7fc00000u;
      }
      if (doubles_ >> w & 1) {
        const u64 bits = key[w] | u64(key[w + 1]) << 32;
        const u64 magnitude = bits & ~(1ull << 63);
        const u64 to = magnitude == 0 ? 0 : magnitude > 0x7ff0000000000000ull ? 0x7ff8000000000000ull : bits;
        key[w] = u32(to), key[w + 1] = u32(to >> 32);
      }
    }
    return key;
  }
  u32 edge() const {
    static const u32 edges[] = {0, 1, 0xffffffffu, 0xfffffffeu, 0xfffffffdu, 0xfffffffcu, 0x80000000u, 0x7fc00000u,
                                0xffc00001u, 0x7ff00000u, 0x7ff80000u, 0xfff00001u};
    return edges[below(12)];
  }
  void universe(u32 size) {
    const bool isNarrow = chance(30);
    for (u32 i = 0; i < size; i++) {
      Words key(keyWords_);
      for (u32& word : key) word = chance(isNarrow ? 100 : 15) ? edge() : chance(30) ? below(4) : u32(randomness());
      keys_.push_back(key);
    }
  }

  template <class A> void bind(A& a) const {
    a.slots = slots_.range();
    a.control = control_.range();
    a.SLOTS = slotCount_, a.HASH = hash_, a.MULTIPLIER = multiplier_, a.OFFSET = offset_;
    a.KEY_WORDS = u32(keyWords_), a.VALUE_WORDS = u32(valueWords_), a.FLOATS32 = singles_, a.FLOATS64 = doubles_;
  }
  Words counters() const { return control_.read<u32>(16); }
  void zeroCounters(u32 tickets = 0) {
    Words words = counters();
    for (int i = 0; i < 8; i++) words[i] = 0;
    words[8] = tickets;
    control_.write(words);
  }

  struct Batch {
    std::vector<Words> keys;
    std::vector<u8> mask;
    bool isMasked;
  };
  Batch batch() {
    Batch b;
    const u32 count = 1 + below(chance(2) ? 20000 : chance(20) ? 6000 : 300);
    b.isMasked = chance(30);
    const bool isHot = chance(20);
    for (u32 i = 0; i < count; i++) {
      b.keys.push_back(keys_[isHot && chance(90) ? 0 : below(u32(keys_.size()))]);
      b.mask.push_back(b.isMasked ? u8(chance(60) ? 1 + below(255) : 0) : 1);
    }
    return b;
  }
  static Words flat(const std::vector<Words>& elements) {
    Words words;
    for (const Words& element : elements) words.insert(words.end(), element.begin(), element.end());
    return words;
  }
  Words hashesOf(const Batch& b) const {
    Words hashes;
    for (const Words& key : b.keys) hashes.push_back(u32(KeyHash()(canonical(key)) >> 20));
    return hashes;
  }
  /// Entries that take the place of a slot: those of keys of one word that equal a mark take none.
  u32 entriesInSlots() const { return keyWords_ == 1 && !isWide_ ? mainEntries() : u32(model_.size()); }
  u32 mainEntries() const {
    u32 count = 0;
    for (const auto& entry : model_) count += isMain(entry.first);
    return count;
  }

  u32 ruleFor() const {
    if (valueWords_ == 0) return KEEP;
    return valueWords_ > 2 ? below(2) : below(13);
  }
  Words valueFor(u32 rule) {
    Words value(valueWords_);
    if (rule == ADD_FLOAT) {
      // sums of these are exact in any order; subnormals at times, NaN at times
      const double unit = isTiny_ ? (valueWords_ == 1 ? std::ldexp(1.0, -149) : std::ldexp(1.0, -1074)) : 1.0;
      const double number = (double(below(200)) - 100) * unit;
      const float single = float(number);
      // a NaN of its own: it stays where it is the first value, and becomes the one NaN in a sum
      if (chance(1)) value.back() = valueWords_ == 1 ? 0xffc12345u : 0xfff81234u;
      else if (valueWords_ == 1) std::memcpy(value.data(), &single, 4);
      else std::memcpy(value.data(), &number, 8);
      return value;
    }
    for (u32& word : value) word = chance(20) ? edge() : u32(randomness());
    return value;
  }

  void insert();
  void checkInserted(const Batch& b, const std::vector<Words>& values, u32 rule, const std::vector<u8>& isNew,
                     const std::vector<u8>& rejected);
  std::pair<std::vector<u8>, std::vector<Words>> look(const Batch& b, const Words& missing);
  void sort();
  void find();
  void erase();
  void retrieve();
  void statistics();

  int keyWords_, valueWords_;
  bool isWide_;
  std::string suffix_;
  u32 slotCount_, sides_, slotWords_;
  Memory slots_, control_;
  u32 hash_ = 0, multiplier_ = 1, offset_ = 0, singles_ = 0, doubles_ = 0;
  bool isTiny_ = chance(50), mayBeFloat_ = true;
  std::vector<Words> keys_;
  Model model_;
  u32 tombstones_ = 0;
};

void Trial::insert() {
  const Batch b = batch();
  const u32 rule = ruleFor();
  std::vector<Words> values;
  for (size_t i = 0; i < b.keys.size(); i++) values.push_back(valueFor(rule));
  if (rule == ADD_FLOAT) {
    // what is stored must be a number of the same kind for sums to be exact
    for (auto& entry : model_) entry.second = Words(valueWords_, 0);
    if (!model_.empty()) {
      const Words before(valueWords_, 0);
      Batch all{{}, {}, false};
      for (auto& entry : model_) all.keys.push_back(entry.first), all.mask.push_back(1);
      const Memory keys(flat(all.keys)), hashes(hashesOf(all)), zeros(Words(all.keys.size() * valueWords_, 0));
      insert_arguments a{};
      bind(a);
      zeroCounters();
      a.keys = keys.range(), a.values = zeros.range();
      if (hash_ == 4) a.hashes = hashes.range();
      a.COUNT = u32(all.keys.size()), a.RULE = ASSIGN, a.REUSE = 1;
      launch("insert" + suffix_, a, 1 + below(8));
      REQUIRE(counters()[1] == all.keys.size(), "existing %u of %zu", counters()[1], all.keys.size());
    }
  }
  const u32 count = u32(b.keys.size());
  const u32 freeSlots = slotCount_ - entriesInSlots();
  const Memory keys(flat(b.keys)), given(flat(values)), mask(b.mask), hashes(hashesOf(b));
  const Memory isNew(std::vector<u8>(count, 9)), rejected(std::vector<u8>(count, 9));
  insert_arguments a{};
  bind(a);
  a.keys = keys.range(), a.values = given.range(), a.isNew = isNew.range(), a.rejected = rejected.range();
  if (b.isMasked) a.mask = mask.range();
  if (hash_ == 4) a.hashes = hashes.range();
  a.COUNT = count, a.RULE = rule;
  a.CAREFUL = count > freeSlots || chance(10);
  a.REUSE = tombstones_ > 0 || chance(20);
  const u32 blocks = 1 + below(2 * (count / 1024 + 1));
  u32 inserted = 0, existing = 0, left = 0, sides = 0, tickets = freeSlots;
  for (u32 round = 0;; round++) {
    REQUIRE(round < 1000, "careful inserts do not end");
    zeroCounters(tickets);
    launch("insert" + suffix_, a, blocks);
    const Words now = counters();
    inserted += now[0], existing += now[1], left = now[2], tombstones_ -= now[3], sides += now[5];
    const bool hadTickets = tickets > 0;
    tickets -= now[0] - (keyWords_ == 1 ? now[5] : 0);
    if (a.CAREFUL) REQUIRE(now[8] == tickets, "tickets %u, not %u", now[8], tickets);
    if (left == 0 || !hadTickets) break;
    a.ACCEPT_REJECTED = 1;
  }
  u32 selected = 0;
  for (u8 byte : b.mask) selected += byte != 0;
  REQUIRE(inserted + existing + left == selected, "%u + %u + %u != %u", inserted, existing, left, selected);
  const u32 live = u32(model_.size());
  const u32 main = mainEntries();
  checkInserted(b, values, rule, isNew.read<u8>(count), rejected.read<u8>(count));
  REQUIRE(model_.size() - live == inserted, "inserted %u, the model %zu", inserted, model_.size() - live);
  REQUIRE(mainEntries() - main == inserted - sides, "sides");
}

void Trial::checkInserted(const Batch& b, const std::vector<Words>& values, u32 rule, const std::vector<u8>& isNew,
                          const std::vector<u8>& rejected) {
  std::unordered_map<Words, std::vector<u32>, KeyHash> rows;
  for (u32 i = 0; i < b.keys.size(); i++) {
    if (b.mask[i]) rows[canonical(b.keys[i])].push_back(i);
    else REQUIRE(isNew[i] == 0 && rejected[i] == 0, "flags of a row that is left out");
  }
  Batch all = b;
  all.isMasked = false;
  const auto [found, stored] = look(all, Words(std::max(valueWords_, keyWords_), 0));
  u32 refused = 0;
  for (const auto& [key, mine] : rows) {
    const auto before = model_.find(key);
    const bool wasThere = before != model_.end();
    const bool isThere = found[mine[0]] != 0;
    u32 news = 0;
    for (u32 i : mine) {
      news += isNew[i];
      REQUIRE(rejected[i] == !isThere, "rejected %u, there %u", rejected[i], isThere);
    }
    if (!isThere) refused++;
    REQUIRE(news == (isThere && !wasThere), "new %u", news);
    if (!isThere) {
      REQUIRE(!wasThere && (isMain(key) || keyWords_ > 1), "a key that was there is gone");
      continue;
    }
    const Words& now = stored[mine[0]];
    if (valueWords_ == 0) {
      model_[key] = {};
      continue;
    }
    Words expected = wasThere ? before->second : Words();
    if (rule <= ASSIGN) {
      bool isOneOf = rule == KEEP && wasThere ? now == expected : false;
      if (rule == ASSIGN || !wasThere) {
        for (u32 i : mine) isOneOf = isOneOf || values[i] == now;
      }
      REQUIRE(isOneOf, "rule %u: a value from nowhere", rule);
    } else {
      for (u32 i : mine) expected = expected.empty() ? values[i] : combinedWords(rule, expected, values[i]);
      REQUIRE(now == expected, "rule %u: %08x %08x, not %08x %08x, %zu rows", rule, now[0], now.back(), expected[0],
              expected.back(), mine.size());
    }
    model_[key] = now;
  }
  if (refused > 0) REQUIRE(entriesInSlots() == slotCount_, "%u keys refused, %u entries in %u slots", refused, entriesInSlots(), slotCount_);
}

std::pair<std::vector<u8>, std::vector<Words>> Trial::look(const Batch& b, const Words& missing) {
  const u32 count = u32(b.keys.size());
  const u32 width = u32(valueWords_ == 0 ? keyWords_ : valueWords_);
  const Memory keys(flat(b.keys)), mask(b.mask), hashes(hashesOf(b));
  const Memory values(Words(count * width, 0x77777777u)), found(std::vector<u8>(count, 9));
  find_arguments a{};
  bind(a);
  a.keys = keys.range(), a.found = found.range(), a.values = values.range();
  if (b.isMasked) a.mask = mask.range();
  if (hash_ == 4) a.hashes = hashes.range();
  a.COUNT = count, a.MISSING = missing[0], a.MISSING_HIGH = missing.size() > 1 ? missing[1] : 0;
  launch("find" + suffix_, a, 1 + below(2 * (count / 1024 + 1)));
  const Words words = values.read<u32>(count * width);
  std::vector<Words> elements;
  for (u32 i = 0; i < count; i++) elements.emplace_back(words.begin() + i * width, words.begin() + (i + 1) * width);
  return {found.read<u8>(count), elements};
}

void Trial::find() {
  const Batch b = batch();
  const Words missing{u32(randomness()), u32(randomness())};
  const auto [found, values] = look(b, missing);
  for (size_t i = 0; i < b.keys.size(); i++) {
    const Words key = canonical(b.keys[i]);
    const auto entry = model_.find(key);
    const bool isThere = b.mask[i] && entry != model_.end();
    REQUIRE(found[i] == isThere, "%s: found %u, there %u, key %08x", suffix_.c_str(), found[i], isThere, key[0]);
    if (isThere) REQUIRE(values[i] == (valueWords_ == 0 ? key : entry->second), "%s: another value", suffix_.c_str());
    else REQUIRE(values[i][0] == missing[0] && (values[i].size() < 2 || values[i][1] == missing[1]), "missing");
  }
}

/// Sorts a batch by partition: each element is at its place, partitions follow each other, and gather brings it back.
void Trial::sort() {
  if (isWide_ || hash_ == 4) return;
  const Batch b = batch();
  const u32 count = u32(b.keys.size()), bits = 1 + below(11);
  const std::string words = std::to_string(keyWords_) + "_" + std::to_string(valueWords_);
  std::vector<Words> given;
  for (u32 i = 0; i < count; i++) given.push_back(valueFor(ASSIGN));
  const Memory keys(flat(b.keys)), values(flat(given)), mask(b.mask), cursors(Words(2048, 0));
  const Memory sortedKeys(count * keyWords_ * 4), sortedValues(count * valueWords_ * 4), places(std::vector<unsigned short>(count, 7));
  const u32 tiles = (count + 8191) / 8192;
  const Memory runs(u64(tiles << bits) * 4), runStarts(u64(tiles << bits) * 2);
  partition_count_arguments c{};
  c.keys = keys.range(), c.cursors = cursors.range();
  if (b.isMasked) c.mask = mask.range();
  c.HASH = hash_, c.MULTIPLIER = multiplier_, c.OFFSET = offset_, c.FLOATS32 = singles_, c.FLOATS64 = doubles_;
  c.COUNT = count, c.BITS = bits;
  launch("partition_count_" + std::to_string(keyWords_), c, 1 + below(3), 1024);
  launch("partition_offsets", partition_offsets_arguments{cursors.range(), bits}, 1, 1024);
  const Words starts = cursors.read<u32>(2048);
  partition_scatter_arguments a{};
  a.keys = keys.range(), a.values = values.range(), a.mask = c.mask, a.cursors = cursors.range();
  a.sortedKeys = sortedKeys.range(), a.sortedValues = sortedValues.range(), a.places = places.range(), a.runs = runs.range(), a.runStarts = runStarts.range();
  a.HASH = hash_, a.MULTIPLIER = multiplier_, a.OFFSET = offset_, a.FLOATS32 = singles_, a.FLOATS64 = doubles_;
  a.COUNT = count, a.BITS = bits;
  launch("partition_scatter_" + words, a, tiles, 1024, (8u << bits) + 8192 * 4 * u32(keyWords_ + valueWords_));
  const Words ends = cursors.read<u32>(2048);
  const auto placesInTiles = places.read<unsigned short>(count);
  const auto firsts = runs.read<u32>(tiles << bits);
  const auto locals = runStarts.read<unsigned short>(tiles << bits);
  const Words k = sortedKeys.read<u32>(count * keyWords_), v = sortedValues.read<u32>(count * valueWords_);
  u32 selected = 0;
  Words at(count);
  std::set<u32> taken;
  for (u32 i = 0; i < count; i++) {
    const u32 place = placesInTiles[i];
    if (!b.mask[i]) {
      REQUIRE(place == 0xffff, "a place of an element that is left out");
      continue;
    }
    selected++;
    const u32 tile = i / 8192 << bits;
    u32 p = 0;
    while (p + 1 < 1u << bits && locals[tile + p + 1] <= place) p++;
    at[i] = firsts[tile + p] + place - locals[tile + p];
    REQUIRE(at[i] < count && taken.insert(at[i]).second, "place %u", at[i]);
    const Words key = canonical(b.keys[i]);
    REQUIRE(std::equal(key.begin(), key.end(), k.begin() + at[i] * keyWords_), "key %u", i);
    REQUIRE(std::equal(given[i].begin(), given[i].end(), v.begin() + at[i] * valueWords_), "value %u", i);
  }
  for (u32 p = 0; p < 1u << bits; p++) REQUIRE(ends[p] == (p + 1 < 1u << bits ? starts[p + 1] : selected), "partition %u", p);
  if (valueWords_ == 0) return;
  const Memory found(std::vector<u8>(count, 9)), out(Words(count * valueWords_, 1)), flags(std::vector<u8>(count, 1));
  partition_gather_arguments g{};
  g.places = places.range(), g.runs = runs.range(), g.runStarts = runStarts.range(), g.BITS = bits, g.sortedValues = sortedValues.range(), g.sortedFound = flags.range();
  g.values = out.range(), g.found = found.range(), g.COUNT = count, g.MISSING = 5, g.MISSING_HIGH = 6;
  launch("partition_gather_" + std::to_string(valueWords_), g, tiles, 1024, 8192 * (4 * u32(valueWords_) + 1));
  const Words back = out.read<u32>(count * valueWords_);
  const std::vector<u8> there = found.read<u8>(count);
  for (u32 i = 0; i < count; i++) {
    const Words wanted = b.mask[i] ? given[i] : Words{5, 6};
    REQUIRE(there[i] == (b.mask[i] != 0), "flag %u", i);
    REQUIRE(std::equal(wanted.begin(), wanted.begin() + valueWords_, back.begin() + i * valueWords_), "element %u", i);
  }
}

void Trial::erase() {
  const Batch b = batch();
  const u32 count = u32(b.keys.size());
  const Memory keys(flat(b.keys)), mask(b.mask), hashes(hashesOf(b));
  erase_arguments a{};
  bind(a);
  zeroCounters();
  a.keys = keys.range();
  if (b.isMasked) a.mask = mask.range();
  if (hash_ == 4) a.hashes = hashes.range();
  a.COUNT = count;
  launch("erase" + suffix_, a, 1 + below(2 * (count / 1024 + 1)));
  const u32 live = u32(model_.size()), main = mainEntries();
  for (u32 i = 0; i < count; i++) {
    if (b.mask[i]) model_.erase(canonical(b.keys[i]));
  }
  const Words now = counters();
  REQUIRE(now[4] == live - model_.size(), "erased %u, the model %zu", now[4], live - model_.size());
  REQUIRE(now[4] - now[6] == main - mainEntries(), "sides");
  tombstones_ += now[4] - now[6];
}

void Trial::retrieve() {
  const u32 room = u32(model_.size());
  const Memory keys(room * keyWords_ * 4), values(room * valueWords_ * 4);
  retrieve_arguments a{};
  bind(a);
  zeroCounters();
  a.keys = keys.range();
  if (valueWords_ > 0) a.values = values.range();
  a.COUNT = room;
  launch("retrieve" + suffix_, a, 1 + below(4));
  REQUIRE(counters()[7] == room, "%s: retrieved %u of %u", suffix_.c_str(), counters()[7], room);
  const Words k = keys.read<u32>(room * keyWords_), v = values.read<u32>(room * valueWords_);
  std::set<Words> seen;
  for (u32 i = 0; i < room; i++) {
    const Words key(k.begin() + i * keyWords_, k.begin() + (i + 1) * keyWords_);
    const Words value(v.begin() + i * valueWords_, v.begin() + (i + 1) * valueWords_);
    const auto entry = model_.find(key);
    REQUIRE(entry != model_.end() && entry->second == value && seen.insert(key).second, "%s: entry %u", suffix_.c_str(), i);
  }
}

void Trial::statistics() {
  if (hash_ == 4 && !isWide_) return;
  const u32 words = 6 + 256;
  const Memory histogram(Words(words, 0));
  statistics_arguments a{};
  bind(a);
  a.histogram = histogram.range();
  launch("statistics" + suffix_, a, 1 + below(4));
  const Words got = histogram.read<u32>(words);
  u64 entries = 0, sum = 0;
  for (u32 i = 0; i < 256; i++) entries += got[6 + i], sum += u64(got[6 + i]) * (i + 1);
  REQUIRE(got[0] == model_.size() && entries == got[0] && got[1] == tombstones_, "%s: live %u, %zu; tombstones %u, %u",
          suffix_.c_str(), got[0], model_.size(), got[1], tombstones_);
  const u64 total = got[4] | u64(got[5]) << 32;
  REQUIRE(got[2] > 256 ? total >= sum : total == sum, "sum");
  REQUIRE(got[2] <= counters()[9] || got[2] <= 1, "longest %u, maxProbe %u", got[2], counters()[9]);
}

int main(int count, char** words) {
  REQUIRE(count >= 4, "LIBRARY IMAGE SECONDS [SEED]");
  library = dlopen(words[1], RTLD_NOW | RTLD_GLOBAL);
  REQUIRE(library != nullptr, "%s", dlerror());
  call("cuInit", 0u);
  int device = 0;
  void* context = nullptr;
  call("cuDeviceGet", &device, 0);
  call("cuDevicePrimaryCtxRetain", &context, device);
  call("cuCtxSetCurrent", context);
  std::ifstream file(words[2], std::ios::binary);
  const std::string image((std::istreambuf_iterator<char>(file)), {});
  call("cuModuleLoadData", &module_, (const void*)image.data());
  const u64 seed = count > 4 ? std::strtoull(words[4], nullptr, 10) : std::random_device()();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(int(1000 * std::atof(words[3])));
  static const int formats[][2] = {{1, 0}, {1, 1}, {2, 0}, {1, 2}, {2, 1}, {2, 2}, {3, 0}, {3, 1},
                                   {3, 2}, {4, 2}, {1, 5}, {2, 4}, {8, 16}, {5, 3}, {8, 0}, {7, 1}};
  u64 trial = 0;
  for (; std::chrono::steady_clock::now() < end; trial++) {
    randomness.seed(seed + trial);
    const auto& format = formats[trial % 16];
    Trial(format[0], format[1]).run(30);
  }
  std::printf("%llu trials from seed %llu: right\n", trial, seed);
}
