// The table as device code sees it: find, contains, insert, insertOrAssign, insertOrApply, erase and forEach for users'
// kernels, and the steps that these are made of for the engine's. A Table is a few numbers and two pointers: make it from
// the arguments of a launch and pass it by reference.
//
//   extern "C" __global__ void mine(warpmap::TableArguments arguments, …) {
//     const warpmap::Table<1, 1> table(arguments);    // u32 → u32; Table<-1, -1>: words known at run time
//     warpmap::u32 value;
//     if (table.find(key, value)) …
//
// Keys and values are the bits of the table's types: u32 for one word, u64 for two, the low word first; WideKey and
// WideValue where a key or a value has more. What users' functions insert and erase is counted, for the host.
//
// Slots are probed linearly from the home slot floor(hash × slots / 2^32), with wrap. What may run beside what, in one
// kernel or in several at once:
// - find, contains and forEach beside each other;
// - insert, insertOrAssign and insertOrApply beside each other and beside find: a find sees an entry whole or not at
//   all (values of more than two words: unless they are assigned meanwhile);
// - erase beside find and erase only. An insert beside an erase could store a key twice.
// Inserts into a table with tombstones look the key up first; `hasTombstones` false saves that.
#pragma once
#include "arguments.cuh"
#include "control.cuh"
#include "slots.cuh"

namespace warpmap {

/// What became of an element of an insert.
enum class Outcome : u32 { INSERTED, REUSED, SIDE_INSERTED, EXISTING, REJECTED };

template <int KEY_WORDS, int VALUE_WORDS> class Table {
 public:
  using Slots = typename SlotsOf<KEY_WORDS, VALUE_WORDS>::Type;
  using Key = typename Slots::Key;
  using Value = typename Slots::Value;
  using Word = typename Slots::Word;
  static constexpr bool IS_WIDE = KEY_WORDS < 0;

  /// Where a key's search begins.
  struct Probe {
    /// The key as its slot has it.
    Key key;
    u32 slot;
    /// Of wide keys: the state word of its entry.
    u32 tag;
    bool isSide;
  };

  /// Where a search ended.
  struct Place {
    u32 slot;
    /// What the slot held.
    Word word;
    bool isThere;
  };

  /// From the fields that all kernels of tables have (arguments.h).
  template <class Arguments> WARPMAP_DEVICE explicit Table(const Arguments& a)
      : slots_(a.slots.at),
        control_((Control*)a.control.at),
        slotCount_(a.SLOTS),
        hash_(a.HASH),
        multiplier_(a.MULTIPLIER),
        offset_(a.OFFSET),
        floats_{a.FLOATS32, a.FLOATS64} {
    shape_.keyWords = a.KEY_WORDS;
    shape_.valueWords = a.VALUE_WORDS;
    shape_.valueOffset = (a.KEY_WORDS + 2) & ~1u;
    shape_.slotWords = (shape_.valueOffset + a.VALUE_WORDS + 1) & ~1u;
  }

  WARPMAP_DEVICE const WideShape& shape() const { return shape_; }
  WARPMAP_DEVICE Control& control() const { return *control_; }
  WARPMAP_DEVICE u32 slotCount() const { return slotCount_; }
  /// Slots of the table, and those behind it.
  WARPMAP_DEVICE u64 allSlots() const { return u64(slotCount_) + Slots::SIDE_SLOTS; }

  WARPMAP_DEVICE unsigned char* at(u64 slot) const {
    if constexpr (IS_WIDE) return slots_ + slot * (shape_.slotWords * 4);
    else return slots_ + slot * Slots::BYTES;
  }
  WARPMAP_DEVICE u32 after(u32 slot) const { return slot + 1 == slotCount_ ? 0 : slot + 1; }

  /// Key `i` of a column, in the bits under which it is stored.
  WARPMAP_DEVICE Key keyAt(const unsigned char* column, u64 i) const {
    return canonicalKey(Slots::loadKey(shape_, column, i));
  }
  WARPMAP_DEVICE Key canonicalKey(Key key) const {
    if constexpr (IS_WIDE) {
#pragma unroll
      for (u32 w = 0; w < MOST_KEY_WORDS; w++) {
        if (floats_.singles >> w & 1) key.words[w] = canonicalF32(key.words[w]);
        if (w + 1 < MOST_KEY_WORDS && (floats_.doubles >> w & 1)) {
          const u64 bits = canonicalF64(key.words[w] | u64(key.words[w + 1]) << 32);
          key.words[w] = u32(bits);
          key.words[w + 1] = u32(bits >> 32);
        }
      }
      return key;
    } else {
      return canonical(key, floats_);
    }
  }
  WARPMAP_DEVICE Value valueAt(const unsigned char* column, u64 i) const { return Slots::loadValue(shape_, column, i); }

  WARPMAP_DEVICE u32 hash(const Key& key) const { return Slots::hash(shape_, hash_, multiplier_, offset_, key); }

  /// `key` has the bits under which it is stored (canonicalKey).
  WARPMAP_DEVICE Probe probe(const Key& key) const { return probe(key, hash(key)); }
  WARPMAP_DEVICE Probe probe(const Key& key, u32 hash) const {
    const u32 tag = Slots::tagOf(hash);
    if constexpr (IS_WIDE) return {key, homeSlot(tag << 1, slotCount_), tag, false};
    else {
      const auto side = Slots::sideOf(key);
      if (side < Slots::SIDE_SLOTS) return {Slots::SIDE_KEY, slotCount_ + u32(side), tag, true};
      return {key, homeSlot(hash, slotCount_), tag, false};
    }
  }
  WARPMAP_DEVICE Word look(u32 slot) const { return Slots::look(at(slot)); }
  /// Slots that a look-up goes through at most.
  WARPMAP_DEVICE u32 reach() const { return loadRelaxed(&control_->maxProbe); }

  /// Searches a key through `reach` slots at most, or to the first that is EMPTY. `word` is what its first slot held.
  WARPMAP_DEVICE Place locate(const Probe& probe, u32 reach, Word word) const {
    u32 slot = probe.slot;
    for (u32 step = 1;; step++) {
      if (Slots::isEmpty(word)) return {slot, word, false};
      Slots::settleKey(word, probe.tag);
      if (Slots::holds(shape_, at(slot), word, probe.key, probe.tag)) return {slot, word, true};
      if (step >= reach || probe.isSide) return {slot, word, false};
      slot = after(slot);
      word = look(slot);
    }
  }
  /// A search on its way: slots are looked at in the step after the one that loads them.
  struct Walk {
    Probe probe;
    u32 slot;
    u32 step;
    Window<Word, Slots::WINDOW> window;

    /// Whether a warp should take it further (skip).
    WARPMAP_DEVICE bool isFar() const { return step > FAR; }
  };
  WARPMAP_DEVICE void start(const Probe& probe, Walk& walk) const {
    walk.probe = probe;
    walk.slot = probe.slot;
    walk.step = 1;
    load(walk);
  }
  /// A step of a search where no key comes in meanwhile: looks at the slots that were loaded, and loads the next ones
  /// unless the search ends; then `place` says where.
  WARPMAP_DEVICE bool search(Walk& walk, u32 reach, Place& place) const {
    do {
      const u32 first = walk.slot / Slots::WINDOW * Slots::WINDOW;
#pragma unroll
      for (u32 w = 0; w < Slots::WINDOW; w++) {
        if (first + w != walk.slot) continue;
        const Word word = walk.window.words[w];
        const bool isThere = Slots::holds(shape_, at(walk.slot), word, walk.probe.key, walk.probe.tag);
        if (isThere || Slots::isEmpty(word) || walk.step >= reach || walk.probe.isSide) {
          place = {walk.slot, word, isThere};
          return true;
        }
        walk.step++;
        walk.slot = after(walk.slot);
      }
      load(walk);
    } while (isInSector(walk.slot));
    return false;
  }

  /// Takes the search of one lane on, past slots that have other keys; TAKES_FREE: of an insert, which stops at slots that
  /// may be free. All lanes look at slots of their own, in a row. All threads of a warp call it.
  template <bool TAKES_FREE> WARPMAP_DEVICE void skip(Walk& walk, u32 lane, u32 reach) const {
    constexpr u32 NONE = ~0u;
    const auto mark = __shfl_sync(ALL_LANES, Slots::markOf(walk.probe.key, walk.probe.tag), lane);
    u32 slot = __shfl_sync(ALL_LANES, walk.slot, lane), left = reach - __shfl_sync(ALL_LANES, walk.step, lane);
    const u32 mine = threadIdx.x % 32;
    for (bool isThere = left == 0; !isThere;) {
      const u32 row = slot / Slots::WINDOW * Slots::WINDOW, first = row + mine * Slots::WINDOW, rest = slotCount_ - row;
      u32 stop = NONE;
      if (mine * Slots::WINDOW < rest) {
        Window<Word, Slots::WINDOW> window;
        window.load(at(first));
#pragma unroll
        for (u32 w = Slots::WINDOW; w-- > 0;) {
          const Word word = window.words[w];
          const bool stops = Slots::isEmpty(word) || Slots::mayHold(word, mark) ||
                             (TAKES_FREE && (Slots::isTombstone(word) || Slots::isReserved(word)));
          if (stops && first + w >= slot && mine * Slots::WINDOW + w < rest) stop = first + w;
        }
      }
      const u32 stops = __ballot_sync(ALL_LANES, stop != NONE);
      const u32 behind = rest < 32 * Slots::WINDOW ? slotCount_ : row + 32 * Slots::WINDOW;
      const u32 next = stops == 0 ? behind : __shfl_sync(ALL_LANES, stop, u32(__ffs(int(stops)) - 1));
      const u32 steps = next - slot < left ? next - slot : left;
      left -= steps;
      slot = slot + steps == slotCount_ ? 0 : slot + steps;
      isThere = stops != 0 || left == 0;
    }
    if (mine != lane) return;
    walk.slot = slot;
    walk.step = reach - left;
    // who waits at a RESERVED slot would see it in L1 forever
    if constexpr (Slots::WINDOW == 1) walk.window.fill(look(slot));
    else load(walk);
  }

  WARPMAP_DEVICE Place locate(const Probe& p) const { return locate(p, reach(), look(p.slot)); }

  /// An insert on its way to the first free slot of its key's sequence, or to the key.
  struct InsertWalk : Walk {
    /// What the slot was seen to hold that is being claimed; its word in the window is what the claim found.
    Word seen;
    bool isClaiming;

    WARPMAP_DEVICE bool isFar() const { return !isClaiming && Walk::isFar(); }
  };
  /// The first step loads slots or, where isBlind, claims the home slot without a look: for keys that are mostly new, in
  /// slots that are mostly free.
  WARPMAP_DEVICE void startInsert(const Probe& probe, bool isBlind, InsertWalk& walk) const {
    walk.probe = probe;
    walk.slot = probe.slot;
    walk.step = 1;
    walk.isClaiming = false;
    if (isBlind) walk.window.fill(Word(~0ull));
    else load(walk);
  }

  /// A step of an insert: looks at what the last step loaded or claimed, and claims a slot, or loads the next ones. True
  /// at the end, with the outcome; before EXISTING, change(slot, word) was called. `longest` is raised to the slots that
  /// were gone through.
  template <class Change>
  WARPMAP_DEVICE bool insertStep(InsertWalk& walk, Value value, u32& longest, const Change& change, Outcome& outcome) const {
    const u32 first = walk.slot / Slots::WINDOW * Slots::WINDOW;
#pragma unroll
    for (u32 w = 0; w < Slots::WINDOW; w++) {
      if (first + w != walk.slot) continue;
      const Word word = walk.window.words[w];
      if (walk.isClaiming && word == walk.seen) {
        outcome = Slots::isTombstone(word) ? Outcome::REUSED : Outcome::INSERTED;
        if (walk.probe.isSide) outcome = Outcome::SIDE_INSERTED;
        else if (walk.step > longest) longest = walk.step;
        return true;
      }
      // the others of the window may not have been loaded, and this one may be old in L1
      if (walk.isClaiming && Slots::WINDOW > 1) load(walk), walk.window.words[w] = word;
      walk.isClaiming = Slots::isEmpty(word) || Slots::isTombstone(word);
      if (walk.isClaiming) {
        walk.seen = word;
        walk.window.words[w] = Slots::claim(shape_, at(walk.slot), word, walk.probe.key, value, walk.probe.tag);
        return false;
      }
      if (Slots::isReserved(word)) {
        waitABit();
        walk.window.words[w] = look(walk.slot);
        return false;
      }
      Slots::settleKey(word, walk.probe.tag);
      if (Slots::holds(shape_, at(walk.slot), word, walk.probe.key, walk.probe.tag)) {
        change(at(walk.slot), word);
        outcome = Outcome::EXISTING;
        return true;
      }
      if (walk.step >= slotCount_ || walk.probe.isSide) {
        outcome = Outcome::REJECTED;
        return true;
      }
      walk.step++;
      walk.slot = after(walk.slot);
    }
    load(walk);
    return false;
  }
  /// All steps.
  template <class Change> WARPMAP_DEVICE Outcome put(const Probe& probe, Value value, u32& longest, const Change& change) const {
    InsertWalk walk;
    startInsert(probe, false, walk);
    Outcome outcome;
    while (!insertStep(walk, value, longest, change, outcome)) {
    }
    return outcome;
  }

  /// What `rule` does to the value in a slot.
  WARPMAP_DEVICE void change(u32 rule, unsigned char* slot, Word word, Value value) const {
    if constexpr (IS_WIDE) {
      u32* stored = (u32*)slot + shape_.valueOffset;
      if (rule == KEEP) return;
      if (shape_.valueWords == 1) changeAt(rule, stored, value.words[0]);
      else if (shape_.valueWords == 2) changeAt(rule, (u64*)stored, value.words[0] | u64(value.words[1]) << 32);
      else Slots::assign(shape_, slot, word, value);
    } else if constexpr (Slots::HAS_VALUE) {
      if (rule == KEEP) return;
      Slots::settleValue();
      changeAt(rule, Slots::valueAt(shape_, slot), value);
    }
  }

  /// insert (rule KEEP), insertOrAssign (ASSIGN) or insertOrApply (the others) of one key. REJECTED: no slot is free.
  WARPMAP_DEVICE Outcome insert(const Key& key, Value value, u32 rule = KEEP, bool hasTombstones = true) const {
    const Probe p = probe(canonicalKey(key));
    const auto onExisting = [&](unsigned char* slot, Word word) { change(rule, slot, word, value); };
    if (hasTombstones) {
      const Place place = locate(p);
      if (place.isThere) {
        onExisting(at(place.slot), place.word);
        return Outcome::EXISTING;
      }
    }
    u32 longest = reach();
    const u32 before = longest;
    const Outcome outcome = put(p, value, longest, onExisting);
    if (longest > before) atomicMax(&control_->maxProbe, longest);
    UserCounters& counters = control_->byUsers;
    if (outcome < Outcome::EXISTING) atomicAdd(&counters.inserted, 1u);
    if (outcome == Outcome::REUSED) atomicAdd(&counters.reused, 1u);
    if (outcome == Outcome::SIDE_INSERTED) atomicAdd(&counters.sideInserted, 1u);
    return outcome;
  }
  WARPMAP_DEVICE Outcome insertOrAssign(const Key& key, Value value) const { return insert(key, value, ASSIGN); }
  WARPMAP_DEVICE Outcome insertOrApply(const Key& key, Value value, u32 rule) const { return insert(key, value, rule); }

  WARPMAP_DEVICE bool contains(const Key& key) const { return locate(probe(canonicalKey(key))).isThere; }
  /// Of tables with keys and values of one or two words.
  WARPMAP_DEVICE bool find(const Key& key, Value& value) const {
    const Place place = locate(probe(canonicalKey(key)));
    if (place.isThere) Slots::settleValue();
    if (place.isThere) value = valueIn(place.slot, place.word);
    return place.isThere;
  }
  /// Of wide tables: copies the value's words.
  WARPMAP_DEVICE bool find(const Key& key, u32* words) const {
    const Place place = locate(probe(canonicalKey(key)));
    for (u32 w = 0; place.isThere && w < shape_.valueWords; w++) words[w] = valueWordsIn(place.slot)[w];
    return place.isThere;
  }

  /// Takes the entry at a place out; false when another thread did.
  WARPMAP_DEVICE bool eraseAt(const Place& place, bool isSide) const {
    using Mark = decltype(Slots::Marks::EMPTY);
    const Mark mark = isSide ? Slots::Marks::EMPTY : Slots::Marks::TOMBSTONE;
    return Slots::erase(at(place.slot), place.word, mark);
  }
  /// Takes a key out; of threads that do so at once one is told true.
  WARPMAP_DEVICE bool erase(const Key& key) const {
    const Probe p = probe(canonicalKey(key));
    const Place place = locate(p);
    if (!place.isThere || !eraseAt(place, p.isSide)) return false;
    atomicAdd(&control_->byUsers.erased, 1u);
    if (p.isSide) atomicAdd(&control_->byUsers.sideErased, 1u);
    return true;
  }

  /// Whether a slot, side slots included, has an entry.
  WARPMAP_DEVICE bool hasEntry(Word word) const {
    if constexpr (IS_WIDE) return word >= 0x80000000u && word < Slots::TOMBSTONE;
    else return !Slots::isEmpty(word) && !Slots::isTombstone(word);
  }
  /// The key of an entry.
  WARPMAP_DEVICE Key keyIn(u64 slot, Word word) const {
    if constexpr (IS_WIDE) return Slots::loadKey(shape_, at(slot) + 4, 0);
    else return slot < slotCount_ ? Slots::keyOf(word) : Key(~Key(slot - slotCount_));
  }
  /// The value of an entry, of tables with keys and values of one or two words.
  WARPMAP_DEVICE Value valueIn(u64 slot, Word word) const { return Slots::valueIn(shape_, at(slot), word); }
  /// Where the words of an entry's value are, of wide tables.
  WARPMAP_DEVICE const u32* valueWordsIn(u64 slot) const { return (const u32*)at(slot) + shape_.valueOffset; }
  /// Calls visit(slot, word) for each entry, all threads of the grid together.
  template <class Visit> WARPMAP_DEVICE void forEach(const Visit& visit) const {
    const u64 stride = u64(gridDim.x) * blockDim.x;
    for (u64 slot = u64(blockIdx.x) * blockDim.x + threadIdx.x; slot < allSlots(); slot += stride) {
      const Word word = Slots::look(at(slot));
      if (hasEntry(word)) visit(slot, word);
    }
  }

 private:
  /// Whether a slot is in the sector of memory of the one before it, which comes with it.
  WARPMAP_DEVICE static bool isInSector(u32 slot) {
    if constexpr (IS_WIDE) return false;
    else return slot * Slots::BYTES % 32 != 0;
  }
  /// Steps of a search that most do without.
  static constexpr u32 FAR = 32;

  WARPMAP_DEVICE void load(Walk& walk) const {
    // side slots begin anywhere
    if (walk.probe.isSide) walk.window.fill(look(walk.slot));
    else walk.window.load(at(walk.slot / Slots::WINDOW * Slots::WINDOW));
  }

  unsigned char* slots_;
  Control* control_;
  u32 slotCount_;
  u32 hash_;
  u32 multiplier_;
  u32 offset_;
  FloatsInKey floats_;
  WideShape shape_;
};

}  // namespace warpmap
