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
#include <memory>
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

/// A batch that the kernels sorted by partition, in one level or in two.
struct Sorted {
  struct Level {
    u32 firstBits, bits, tiles, blocks;
    Memory keys, values, places;
    Level(u32 firstBits, u32 bits, u32 count, u32 keyWords, u32 valueWords)
        : firstBits(firstBits),
          bits(bits),
          tiles(firstBits == 0 ? (count + 8191) / 8192 : 1 + below(2)),
          blocks(tiles << firstBits),
          keys(u64(count) * keyWords * 4),
          values(u64(count) * valueWords * 4),
          places(Words(count, 7)) {}
  };
  Sorted(u32 count, u32 firstBits, u32 bits, u32 keyWords, u32 valueWords)
      : count(count), bits(firstBits + bits), cursors(Words(1u << (firstBits + bits), 0)), firstCursors(4u << firstBits) {
    if (firstBits > 0) levels.push_back(std::make_unique<Level>(0, firstBits, count, keyWords, valueWords));
    levels.push_back(std::make_unique<Level>(firstBits, bits, count, keyWords, valueWords));
  }
  u32 count, bits;
  Memory cursors, firstCursors;
  std::vector<std::unique_ptr<Level>> levels;
  Range keys() const { return levels.back()->keys.range(); }
  Range values() const { return levels.back()->values.range(); }
};

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
    // some have each key once, as many as there are free slots: they fill the table
    const bool isUnique = chance(model_.empty() ? 50 : 10);
    const u32 most = std::min(slotCount_ - entriesInSlots(), u32(keys_.size()));
    const u32 count = isUnique ? std::max(most, 1u) : 1 + below(chance(2) ? 20000 : chance(20) ? 6000 : 300);
    b.isMasked = chance(isUnique ? 0 : 30);
    const bool isHot = chance(20);
    for (u32 i = 0; i < count; i++) {
      b.keys.push_back(keys_[isUnique ? i : isHot && chance(90) ? 0 : below(u32(keys_.size()))]);
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
  void insertByWindows(const Batch& b, const std::vector<Words>& values, insert_arguments a) const;
  void checkInserted(const Batch& b, const std::vector<Words>& values, u32 rule, const std::vector<u8>& isNew,
                     const std::vector<u8>& rejected);
  std::pair<std::vector<u8>, std::vector<Words>> look(const Batch& b, const Words& missing);
  std::unique_ptr<Sorted> sorted(const Batch& b, const std::vector<Words>& given, u32 firstBits, u32 bits) const;
  void unsort(const Sorted& from, Range words, Range flags, u32 width, Range toWords, Range toFlags, const Words& missing) const;
  bool goesByWindows(const Batch& b) const;
  template <class Windows, class Direct>
  void runByWindows(const std::string& operation, const Sorted& sorted, Windows w, Direct d) const;
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
  const bool isCareful = count > freeSlots || chance(10), byWindows = !isCareful && goesByWindows(b);
  const Memory isNew(std::vector<u8>(count, 9)), rejected(std::vector<u8>(count, byWindows ? 0 : 9));
  insert_arguments a{};
  bind(a);
  a.keys = keys.range(), a.values = given.range(), a.isNew = isNew.range(), a.rejected = rejected.range();
  if (b.isMasked) a.mask = mask.range();
  if (hash_ == 4) a.hashes = hashes.range();
  a.COUNT = count, a.RULE = rule;
  a.CAREFUL = isCareful;
  a.REUSE = tombstones_ > 0 || chance(20);
  const bool byThreads = !isWide_ && !a.CAREFUL && !a.REUSE && chance(50);
  const u32 blocks = 1 + below(2 * (count / 1024 + 1));
  u32 inserted = 0, existing = 0, left = 0, sides = 0, tickets = freeSlots;
  for (u32 round = 0;; round++) {
    REQUIRE(round < 1000, "careful inserts do not end");
    zeroCounters(tickets);
    if (byWindows) insertByWindows(b, values, a);
    else if (byThreads) launch("insert_each" + suffix_, a, (count + 255) / 256);
    else launch("insert" + suffix_, a, blocks);
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

void Trial::insertByWindows(const Batch& b, const std::vector<Words>& values, insert_arguments a) const {
  const u32 count = u32(b.keys.size());
  const auto made = sorted(b, values, 1 + below(2), 1 + below(3));
  const Sorted& s = *made;
  const Memory isNew(std::vector<u8>(count, 9));
  windows_insert_arguments w{};
  w.values = s.values(), w.isNew = isNew.range(), w.RULE = a.RULE, w.REUSE = a.REUSE;
  w.IS_EMPTY = model_.empty() && tombstones_ == 0 && chance(70);
  const Range flags = a.isNew;
  a.values = w.values, a.isNew = w.isNew;
  // flags of rejected elements are in the order of the batch
  a.rejected = {};
  runByWindows("insert", s, w, a);
  unsort(s, {}, isNew.range(), 1, {}, flags, {0, 0});
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
  const bool byThreads = !isWide_ && chance(50);
  const auto run = [&](auto a, const char* operation, u32 blocks) {
    bind(a);
    a.keys = keys.range(), a.found = found.range(), a.values = values.range();
    if (b.isMasked) a.mask = mask.range();
    if (hash_ == 4) a.hashes = hashes.range();
    a.COUNT = count, a.MISSING = missing[0], a.MISSING_HIGH = missing.size() > 1 ? missing[1] : 0;
    if (!goesByWindows(b)) return launch(operation + suffix_, a, blocks);
    const auto made = sorted(b, {}, 1 + below(2), 1 + below(3));
    const Sorted& s = *made;
    const Memory sortedValues(u64(count) * width * 4), sortedFound(count);
    a.keys = s.keys(), a.mask = {}, a.values = sortedValues.range(), a.found = sortedFound.range(), a.COUNT = s.count;
    if constexpr (std::is_same_v<decltype(a), find_arguments>) {
      if (chance(70)) {
        windows_find_arguments w{};
        w.values = a.values, w.found = a.found, w.MISSING = a.MISSING, w.MISSING_HIGH = a.MISSING_HIGH;
        zeroCounters();
        runByWindows("find", s, w, a);
      } else {
        launch(operation + suffix_, a, blocks);
      }
    } else {
      launch(operation + suffix_, a, blocks);
    }
    unsort(s, sortedValues.range(), sortedFound.range(), width, values.range(), found.range(), {0, 0});
  };
  if (byThreads) run(find_each_arguments{}, "find_each", (count + 255) / 256);
  else run(find_arguments{}, "find", 1 + below(2 * (count / 1024 + 1)));
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

std::unique_ptr<Sorted> Trial::sorted(const Batch& b, const std::vector<Words>& given, u32 firstBits, u32 bits) const {
  const u32 count = u32(b.keys.size()), all = firstBits + bits;
  const u32 valueWords = given.empty() ? 0 : u32(valueWords_);
  auto made = std::make_unique<Sorted>(count, firstBits, bits, keyWords_, valueWords);
  const Sorted& to = *made;
  const Memory keys(flat(b.keys)), values(flat(given)), mask(b.mask);
  partition_count_arguments c{};
  c.keys = keys.range(), c.cursors = to.cursors.range();
  if (b.isMasked) c.mask = mask.range();
  c.HASH = hash_, c.MULTIPLIER = multiplier_, c.OFFSET = offset_, c.FLOATS32 = singles_, c.FLOATS64 = doubles_;
  c.COUNT = count, c.BITS = all;
  launch("partition_count_" + std::to_string(keyWords_), c, 1 + below(3), 1024, 4u << all);
  partition_offsets_arguments o{to.cursors.range(), {}, all, firstBits};
  if (firstBits > 0) o.firstCursors = to.firstCursors.range();
  launch("partition_offsets", o, 1, 1024);
  partition_scatter_arguments a{};
  a.keys = keys.range(), a.values = values.range(), a.mask = c.mask;
  for (const auto& level : to.levels) {
    const bool isLast = &level == &to.levels.back();
    a.cursors = isLast ? to.cursors.range() : to.firstCursors.range();
    if (level->firstBits > 0) a.ends = to.firstCursors.range(), a.mask = {};
    a.sortedKeys = level->keys.range(), a.sortedValues = level->values.range();
    a.places = level->places.range();
    a.HASH = hash_, a.MULTIPLIER = multiplier_, a.OFFSET = offset_, a.FLOATS32 = singles_, a.FLOATS64 = doubles_;
    a.COUNT = count, a.FIRST_BITS = level->firstBits, a.BITS = level->bits, a.TILES = level->tiles;
    const std::string words = std::to_string(keyWords_) + "_" + std::to_string(valueWords);
    launch("partition_scatter_" + words, a, level->blocks, 512, (8u << level->bits) + 4 + 8192 * 4 * (keyWords_ + valueWords));
    a.keys = a.sortedKeys, a.values = a.sortedValues;
  }
  return made;
}

/// Brings words and flags of a sorted batch into the order of the batch.
void Trial::unsort(const Sorted& from, Range words, Range flags, u32 width, Range toWords, Range toFlags, const Words& missing) const {
  const Memory wordsBetween(u64(from.count) * width * 4), flagsBetween(from.count);
  for (size_t l = from.levels.size(); l-- > 0;) {
    const Sorted::Level& level = *from.levels[l];
    partition_gather_arguments g{};
    if (level.firstBits > 0) g.ends = from.firstCursors.range();
    g.places = level.places.range();
    g.sortedValues = words, g.sortedFound = flags;
    g.values = l > 0 ? wordsBetween.range() : toWords, g.found = l > 0 ? flagsBetween.range() : toFlags;
    g.COUNT = from.count, g.FIRST_BITS = level.firstBits, g.MISSING = missing[0], g.MISSING_HIGH = missing[1];
    if (words.at == nullptr) g.values = {};
    launch("partition_gather_" + std::to_string(width), g, (from.count + 8191) / 8192, 512);
    words = g.values, flags = g.found;
  }
}

/// Whether windows take a batch: no mask is sorted along, and the host's hashes are not.
bool Trial::goesByWindows(const Batch& b) const { return !isWide_ && hash_ != 4 && !b.isMasked && chance(30); }

/// Sorts a batch by window, runs the kernel of windows and then the direct one on the elements that are left.
template <class Windows, class Direct>
void Trial::runByWindows(const std::string& operation, const Sorted& sorted, Windows w, Direct d) const {
  const Memory list(u64(sorted.count) * 4);
  bind(w), bind(d);
  w.keys = d.keys = sorted.keys(), w.ends = sorted.cursors.range(), w.list = d.list = list.range(), w.BITS = sorted.bits;
  w.MOST = chance(30) ? below(50) : sorted.count;
  const u32 slots = (slotCount_ + (1u << sorted.bits) - 1) >> sorted.bits;
  const auto aligned = [](u32 bytes) { return (bytes + 15) / 16 * 16; };
  launch("windows_" + operation + suffix_, w, 1u << sorted.bits, 512, aligned((slots + 255) * slotWords_ * 4) + aligned(2 * slots));
  launch(operation + suffix_, d, 1 + below(4));
}

/// Sorts a batch by partition: what was sorted comes back, and two levels make the partitions that one makes.
void Trial::sort() {
  if (isWide_ || hash_ == 4) return;
  const Batch b = batch();
  const u32 count = u32(b.keys.size()), firstBits = 1 + below(5), bits = 1 + below(6);
  std::vector<Words> given;
  for (u32 i = 0; i < count; i++) given.push_back(valueFor(ASSIGN));
  const auto oneLevel = sorted(b, given, 0, firstBits + bits), twoLevels = sorted(b, given, firstBits, bits);
  const Sorted &one = *oneLevel, &two = *twoLevels;
  const Words ends = one.cursors.read<u32>(1u << one.bits);
  REQUIRE(ends == two.cursors.read<u32>(1u << one.bits), "ends of partitions");
  u32 selected = 0;
  for (u8 byte : b.mask) selected += byte != 0;
  REQUIRE(ends.back() == selected, "%u of %u", ends.back(), selected);
  for (const Sorted* s : {&one, &two}) {
    const Memory flags(std::vector<u8>(count, 1)), found(std::vector<u8>(count, 9)), keys(u64(count) * keyWords_ * 4), values(u64(count) * 8);
    unsort(*s, s->keys(), flags.range(), keyWords_, keys.range(), found.range(), {5, 6});
    if (valueWords_ > 0) unsort(*s, s->values(), flags.range(), valueWords_, values.range(), found.range(), {5, 6});
    const Words k = keys.read<u32>(count * keyWords_), v = values.read<u32>(count * valueWords_);
    const std::vector<u8> there = found.read<u8>(count);
    for (u32 i = 0; i < count; i++) {
      const Words key = b.mask[i] ? canonical(b.keys[i]) : Words{5, 6}, value = b.mask[i] ? given[i] : Words{5, 6};
      REQUIRE(there[i] == (b.mask[i] != 0), "flag %u", i);
      REQUIRE(std::equal(k.begin() + i * keyWords_, k.begin() + (i + 1) * keyWords_, key.begin()), "key %u", i);
      REQUIRE(std::equal(v.begin() + i * valueWords_, v.begin() + (i + 1) * valueWords_, value.begin()), "value %u", i);
    }
  }
  const auto keysOf = [&](const Sorted& s, u32 from, u32 until) {
    const Words all = s.levels.back()->keys.read<u32>(count * keyWords_);
    std::multiset<Words> keys;
    for (u32 i = from; i < until; i++) keys.insert(Words(all.begin() + i * keyWords_, all.begin() + (i + 1) * keyWords_));
    return keys;
  };
  const u32 p = below(1u << one.bits), start = p == 0 ? 0 : ends[p - 1];
  REQUIRE(keysOf(one, start, ends[p]) == keysOf(two, start, ends[p]), "keys of partition %u", p);
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
  if (goesByWindows(b)) runByWindows("erase", *sorted(b, {}, 1 + below(2), 1 + below(3)), windows_erase_arguments{}, a);
  else launch("erase" + suffix_, a, 1 + below(2 * (count / 1024 + 1)));
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
