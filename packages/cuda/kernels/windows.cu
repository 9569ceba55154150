// windows_insert, windows_find, windows_erase: a batch that is sorted by partition (partition.cu), where the slots of a
// partition, its window, fit shared memory. A block reads its window from memory in order, does the partition's elements
// there, and changes write the window back.
//
// Bindings: keys, values, as sorted; ends, the place behind each partition's last element; isNew, found, in the sorted
// order (may be null). The grid has a block for each of the 2^BITS partitions, of 512 threads and with shared memory for
// the largest window, ceil(SLOTS / 2^BITS) slots; to find, 255 slots more; but to erase, a byte for each slot behind
// these. Both parts begin at multiples of 16 bytes. IS_EMPTY: the table has no entries and no tombstones, so windows are
// filled, not read. REUSE: it has tombstones, so inserts look keys up first.
//
// Where most slots of an empty window will be taken, and in look-ups, entries are laid out in the order of home slots: no
// probe is long then, however full the table is. Other elements probe as they do in memory; a warp takes long probes
// further together.
//
// A window ends where the next one's first home slot is. Some elements go to `list`, for the direct kernel of the
// operation, which runs next, and looks them up from their home slots on: those whose probe sequence reaches the window's
// end, keys of side slots, and those of a partition behind its first MOST, which keeps one block from working on a hot key
// alone; of look-ups, all of a window that cannot be laid out. `control.listed` counts them. Results are those of the
// direct kernel alone: whatever it meets in a window it could have met there, since a key goes to a free slot of its
// sequence that no other is before, and slots do not become empty.
//
// Blocks change no slots of others. Bytes per slot of 8 bytes: 8 read (IS_EMPTY: none), 8 written (find: none); per element
// of u32 → u32: 8 read (find: 4 read, 5 written).
#include "home-bytes.cuh"
#include "results.cuh"

namespace warpmap {

/// Elements or slots of a thread that are loaded at once.
constexpr u32 LOADS_AT_ONCE = 4;
/// Slots behind a window that look-ups read at most.
constexpr u32 MOST_BEHIND = 8192;

WARPMAP_DEVICE u32 alignedTo16(u32 bytes) { return (bytes + 15) / 16 * 16; }

/// A partition: its elements and, in shared memory, its slots. Slots are counted from the window's first.
template <int K, int V> struct SharedWindow {
  using T = Table<K, V>;
  using Slots = typename T::Slots;
  using Word = typename T::Word;

  /// Probes of a step.
  static constexpr u32 PROBES = 8;

  /// An element on its way through the slots.
  struct Walk {
    typename T::Key key;
    typename T::Value value;
    u32 slot, home;
    /// Of an insert: the key was looked up, and is not there.
    bool isPutting;

    WARPMAP_DEVICE u32 steps() const { return slot - home + 1; }
    WARPMAP_DEVICE bool isFar() const { return steps() > 32; }
  };
  struct Element {
    typename T::Key key;
    typename T::Value value;
  };

  unsigned char* memory;
  /// The window in the table.
  unsigned char* origin;
  u32 firstSlot, slots;
  /// The partition's elements; this block has those before `firstLeft`.
  u32 firstElement, firstLeft, endElement;
  u32* left;
  u32* listed;

  template <class Arguments> WARPMAP_DEVICE SharedWindow(const T& table, const Arguments& a, unsigned char* memory) : memory(memory) {
    const u32 p = blockIdx.x, shift = 32 - a.BITS;
    const u32* ends = (const u32*)a.ends.at;
    firstElement = p == 0 ? 0 : ends[p - 1];
    endElement = ends[p];
    firstLeft = endElement - firstElement > a.MOST ? firstElement + a.MOST : endElement;
    firstSlot = homeSlot(p << shift, table.slotCount());
    const u32 endSlot = p + 1 == gridDim.x ? table.slotCount() : homeSlot((p + 1) << shift, table.slotCount());
    slots = endSlot - firstSlot;
    origin = table.at(firstSlot);
    left = (u32*)a.list.at;
    listed = &table.control().listed;
  }

  WARPMAP_DEVICE bool hasElements() const { return firstElement < endElement; }
  WARPMAP_DEVICE unsigned char* at(u32 slot) const { return memory + slot * Slots::BYTES; }
  WARPMAP_DEVICE Word look(u32 slot) const { return *(const volatile Word*)at(slot); }

  /// Has a column of the elements come to L2 while slots are read.
  WARPMAP_DEVICE void prefetch(const Range& column, u32 bytes) const {
    const u64 end = u64(firstLeft) * bytes;
    for (u64 at = u64(firstElement) * bytes + threadIdx.x * 128; at < end; at += WINDOW_BLOCK * 128) prefetchLine(column.at + at);
  }
  WARPMAP_DEVICE void read() const {
    for (u32 slot = threadIdx.x; slot < slots; slot += WINDOW_BLOCK) {
      copyToShared<Slots::BYTES>(at(slot), origin + slot * Slots::BYTES);
    }
    awaitCopies();
    __syncthreads();
  }
  WARPMAP_DEVICE void fill() const {
    const u32 parts = alignedTo16(slots * Slots::BYTES) / 16;
    for (u32 i = threadIdx.x; i < parts; i += WINDOW_BLOCK) ((uint4*)memory)[i] = uint4{~0u, ~0u, ~0u, ~0u};
    __syncthreads();
  }
  WARPMAP_DEVICE void write() const {
    using Part = typename WordsOf<Slots::BYTES == 4 ? 1 : 2>::Type;
    __syncthreads();
#pragma unroll 4
    for (u32 i = threadIdx.x; i < slots * (Slots::BYTES / sizeof(Part)); i += WINDOW_BLOCK) ((Part*)origin)[i] = ((Part*)memory)[i];
  }

  /// Puts the elements on the list that are not for this block.
  WARPMAP_DEVICE void leave() const { leave(firstLeft); }
  WARPMAP_DEVICE void leave(u32 firstLeft) const {
    if (firstLeft == endElement) return;
    __shared__ u32 room;
    if (threadIdx.x == 0) room = atomicAdd(listed, endElement - firstLeft);
    __syncthreads();
    for (u32 i = firstLeft + threadIdx.x; i < endElement; i += WINDOW_BLOCK) left[room + i - firstLeft] = i;
  }

  /// Puts an element on the list.
  WARPMAP_DEVICE void list(u32 i) const { left[atomicAdd(listed, 1u)] = i; }
  /// The home slot of a key; of one that is not for this block, a place behind the window.
  WARPMAP_DEVICE u32 homeOf(const T& table, const typename T::Key& key) const { return table.probe(key).slot - firstSlot; }
  /// Begins an element; false if it goes to the list.
  WARPMAP_DEVICE bool start(const T& table, const Element& element, u32 i, Walk& walk) const {
    walk.key = element.key;
    walk.value = element.value;
    walk.slot = walk.home = homeOf(table, element.key);
    walk.isPutting = false;
    if (walk.home < slots) return true;
    list(i);
    return false;
  }
  WARPMAP_DEVICE static bool holds(Word word, const Walk& walk) { return Slots::mayHold(word, walk.key); }

  /// A step of the insert of a key that is not in the window: at the first slot that is free, or, where an equal key came
  /// in meanwhile, as `change` says. True at the end. The walk may end behind the window.
  template <class Change> WARPMAP_DEVICE bool put(Walk& walk, const Change& change, Outcome& outcome) const {
    for (u32 probe = 0; probe < PROBES; probe++) {
      outcome = Outcome::REJECTED;
      if (walk.slot >= slots) return true;
      Word word = look(walk.slot);
      if (Slots::isEmpty(word) || Slots::isTombstone(word)) {
        const Word old = Slots::claimShared(at(walk.slot), word, walk.key, walk.value);
        outcome = Slots::isTombstone(word) ? Outcome::REUSED : Outcome::INSERTED;
        if (old == word) return true;
        word = old;
      }
      if (Slots::isReserved(word)) return false;
      if (holds(word, walk)) {
        change(at(walk.slot), word);
        outcome = Outcome::EXISTING;
        return true;
      }
      walk.slot++;
    }
    return false;
  }
  /// A step of a search. True at the end, with the place; of a walk that ends behind the window, that is behind it.
  WARPMAP_DEVICE bool search(Walk& walk, u32 reach, typename T::Place& place) const {
    for (u32 probe = 0; probe < PROBES; probe++) {
      place = {walk.slot, 0, false};
      if (walk.slot >= slots) return true;
      const Word word = look(walk.slot);
      place = {walk.slot, word, holds(word, walk)};
      if (place.isThere || Slots::isEmpty(word) || walk.steps() >= reach) return true;
      walk.slot++;
    }
    return false;
  }
  /// Takes the walk of one lane on, past slots that have other keys. All threads of the warp call it.
  WARPMAP_DEVICE void skip(Walk& walk, u32 lane, u32 reach, bool takesFree) const {
    const auto key = __shfl_sync(ALL_LANES, walk.key, lane);
    const u32 home = __shfl_sync(ALL_LANES, walk.home, lane), from = __shfl_sync(ALL_LANES, walk.slot, lane);
    const bool isFree = __shfl_sync(ALL_LANES, u32(takesFree), lane);
    u32 stops = 0, row = from;
    for (;; row += 32) {
      const u32 slot = row + threadIdx.x % 32;
      bool isStop = slot >= slots || slot - home + 1 >= reach;
      if (!isStop) {
        const Word word = look(slot);
        isStop = Slots::isEmpty(word) || Slots::mayHold(word, key) ||
                 (isFree && (Slots::isTombstone(word) || Slots::isReserved(word)));
      }
      stops = __ballot_sync(ALL_LANES, isStop);
      if (stops != 0) break;
    }
    if (threadIdx.x % 32 == lane) walk.slot = row + u32(__ffs(int(stops)) - 1);
  }
};

/// Goes through the numbers from `first` to `end` that are this thread's, some at once: fetch(i) loads what
/// visit(i, fetched) needs.
template <class Fetch, class Visit>
WARPMAP_DEVICE void eachAtOnce(u32 first, u32 end, const Fetch& fetch, const Visit& visit) {
  for (u32 i = first + threadIdx.x; i < end; i += LOADS_AT_ONCE * WINDOW_BLOCK) {
    decltype(fetch(0)) fetched[LOADS_AT_ONCE];
#pragma unroll
    for (u32 k = 0; k < LOADS_AT_ONCE; k++) {
      if (i + k * WINDOW_BLOCK < end) fetched[k] = fetch(i + k * WINDOW_BLOCK);
    }
#pragma unroll
    for (u32 k = 0; k < LOADS_AT_ONCE; k++) {
      if (i + k * WINDOW_BLOCK < end) visit(i + k * WINDOW_BLOCK, fetched[k]);
    }
  }
}

/// Lays out the slots of a window that has none yet in the order of home slots, with no exchange: counts how many
/// elements each home slot has, sums up where they go, and brings them there. Each lies in the first slot of its sequence
/// that those before it leave. False, with nothing counted, where keys may be equal, or far from home.
template <int K, int V>
WARPMAP_DEVICE bool layOut(const windows_insert_arguments& a, const Table<K, V>& table, const SharedWindow<K, V>& window,
                           InsertTally& tally) {
  using T = Table<K, V>;
  using Window = SharedWindow<K, V>;
  using Slots = typename T::Slots;
  using Word = typename T::Word;
  const u32 slots = window.slots;
  const u64 elements = window.endElement - window.firstElement;
  // in emptier windows exchanges are as fast
  if (elements * 10 < u64(slots) * 7) return false;
  // blocks before this one met equal keys, more than one for four blocks
  const Control& control = table.control();
  const bool areMany = loadRelaxed(&control.existing) * elements * 4 > loadRelaxed(&control.inserted);
  if (__syncthreads_or(threadIdx.x == 0 && areMany)) return false;
  if (window.firstLeft != window.endElement || elements > 64 * WINDOW_BLOCK) return false;
  const HomeBytes homes(window.memory + alignedTo16(slots * Slots::BYTES), slots);
  const auto keyAt = [&](u32 i) { return table.keyAt(a.keys.at, i); };
  homes.clear();
  window.fill();
  u32 added = 0;
  eachAtOnce(window.firstElement, window.endElement, keyAt, [&](u32, const typename T::Key& key) {
    const u32 home = window.homeOf(table, key);
    if (home >= slots) return;
    homes.add(home);
    added++;
  });
  if (!homes.toPlaces(added)) return false;
  // those of this thread's elements that go to the list, a bit each
  u64 left = 0;
  u32 longest = 0, count = 0;
  eachAtOnce(
      window.firstElement, window.endElement,
      [&](u32 i) { return typename Window::Element{keyAt(i), table.valueAt(a.values.at, i)}; },
      [&](u32 i, const typename Window::Element& element) {
        const u32 home = window.homeOf(table, element.key), way = home < slots ? homes.add(home) : 0;
        if (home + way >= slots) {
          left |= 1ull << (i - window.firstElement) / WINDOW_BLOCK;
          return;
        }
        count++;
        longest = max(longest, way + 1);
        if (a.isNew.at != nullptr) a.isNew.at[i] = 1;
        Slots::storeShared(window.at(home + way), element.key, element.value);
      });
  bool isFit = true;
  __syncthreads();
  for (u32 slot = threadIdx.x; slot < slots; slot += WINDOW_BLOCK) {
    const Word word = window.look(slot);
    if (!Slots::isEmpty(word)) {
      const auto key = Slots::keyOf(word);
      const u32 home = window.homeOf(table, key);
      for (u32 other = homes.firstOf(home); other < slot; other++) {
        isFit = isFit && !Slots::mayHold(window.look(other), key);
      }
    }
    if constexpr (Slots::BYTES == 16) ((ulonglong2*)window.origin)[slot] = ((const ulonglong2*)window.memory)[slot];
    else ((Word*)window.origin)[slot] = word;
  }
  if (__syncthreads_or(!isFit)) return false;
  tally.longest = max(tally.longest, longest);
  tally.inserted += count;
  for (; left != 0; left &= left - 1) window.list(window.firstElement + threadIdx.x + u32(__ffsll(left) - 1) * WINDOW_BLOCK);
  return true;
}

template <int K, int V, bool REUSES>
WARPMAP_DEVICE void insertElements(const windows_insert_arguments& a, const Table<K, V>& table, const SharedWindow<K, V>& window,
                                   InsertTally& tally) {
  using T = Table<K, V>;
  using Window = SharedWindow<K, V>;
  using Walk = typename Window::Walk;
  window.leave();
  eachUntil<Walk, WINDOW_BLOCK>(
      window.firstElement + threadIdx.x, window.firstLeft,
      [&](u32 i) { return typename Window::Element{table.keyAt(a.keys.at, i), table.valueAt(a.values.at, i)}; },
      [&](u32 i, const typename Window::Element& element, Walk& walk) { return window.start(table, element, i, walk); },
      [&](u32 i, Walk& walk) {
        const auto change = [&](unsigned char* slot, typename T::Word word) { table.change(a.RULE, slot, word, walk.value); };
        Outcome outcome = Outcome::EXISTING;
        if (REUSES && !walk.isPutting) {
          typename T::Place place;
          if (!window.search(walk, tally.before, place)) return false;
          if (place.slot >= window.slots) {
            window.list(i);
            return true;
          }
          walk.isPutting = true;
          walk.slot = walk.home;
          if (!place.isThere) return false;
          change(window.at(place.slot), place.word);
        } else if (!window.put(walk, change, outcome)) {
          return false;
        }
        if (outcome == Outcome::REJECTED) {
          window.list(i);
          return true;
        }
        if (outcome < Outcome::EXISTING && walk.steps() > tally.longest) tally.longest = walk.steps();
        tally.count(outcome);
        if (a.isNew.at != nullptr) a.isNew.at[i] = outcome < Outcome::EXISTING;
        return true;
      },
      [&](Walk& walk, u32 lane) {
        const bool isPutting = !REUSES || walk.isPutting;
        window.skip(walk, lane, isPutting ? table.slotCount() : tally.before, isPutting);
      });
}

template <int K, int V> WARPMAP_DEVICE void insertWindow(const windows_insert_arguments& a) {
  WARPMAP_DYNAMIC_SHARED(memory);
  const Table<K, V> table(a);
  const SharedWindow<K, V> window(table, a, memory);
  InsertTally tally(reachAtRest(table.control()));
  if (!window.hasElements()) return;
  window.prefetch(a.keys, 4 * K);
  window.prefetch(a.values, 4 * V);
  if (a.IS_EMPTY && layOut(a, table, window, tally)) return tally.flush(table.control());
  if (a.IS_EMPTY) window.fill();
  else window.read();
  if (a.REUSE) insertElements<K, V, true>(a, table, window, tally);
  else insertElements<K, V, false>(a, table, window, tally);
  tally.flush(table.control());
  window.write();
}

template <int K, int V> WARPMAP_DEVICE void eraseWindow(const windows_erase_arguments& a) {
  using T = Table<K, V>;
  using Window = SharedWindow<K, V>;
  using Walk = typename Window::Walk;
  using Slots = typename T::Slots;
  WARPMAP_DYNAMIC_SHARED(memory);
  const T table(a);
  const Window window(table, a, memory);
  const u32 reach = reachAtRest(table.control());
  const BlockCounts<1> counts;
  u32 erased = 0;
  if (!window.hasElements()) return;
  window.prefetch(a.keys, 4 * K);
  window.read();
  window.leave();
  eachUntil<Walk, WINDOW_BLOCK>(
      window.firstElement + threadIdx.x, window.firstLeft,
      [&](u32 i) { return typename Window::Element{table.keyAt(a.keys.at, i), typename T::Value()}; },
      [&](u32 i, const typename Window::Element& element, Walk& walk) { return window.start(table, element, i, walk); },
      [&](u32 i, Walk& walk) {
        typename T::Place place;
        if (!window.search(walk, reach, place)) return false;
        if (place.slot >= window.slots) window.list(i);
        erased += place.isThere && Slots::erase(window.at(place.slot), place.word, Slots::Marks::TOMBSTONE);
        return true;
      },
      [&](Walk& walk, u32 lane) { window.skip(walk, lane, reach, false); });
  counts.addAll(0, erased);
  counts.flush({&table.control().erased});
  window.write();
}

/// Answers a window's look-ups from its entries in the order of home slots, as layOut has them, so that a look-up compares
/// those that share its key's home slot alone, however full the table is. Entries that lie behind the window come from
/// there: no empty slot is between it and them. False where that fails.
template <int K, int V>
WARPMAP_DEVICE bool findInOrder(const windows_find_arguments& a, const Table<K, V>& table, const SharedWindow<K, V>& window) {
  using T = Table<K, V>;
  using Slots = typename T::Slots;
  using Word = typename T::Word;
  const u32 slots = window.slots;
  const HomeBytes homes(window.memory + alignedTo16((slots + HomeBytes::MOST) * Slots::BYTES), slots);
  const auto slotAt = [&](u32 i) {
    const u64 slot = u64(window.firstSlot) + i;
    return table.at(slot < table.slotCount() ? slot : slot - table.slotCount());
  };
  const auto wordAt = [&](u32 i) { return *(const Word*)slotAt(i); };
  const auto homeOf = [&](Word word) { return table.hasEntry(word) ? window.homeOf(table, Slots::keyOf(word)) : slots; };
  homes.clear();
  __syncthreads();
  u32 added = 0, end = slots;
  const auto add = [&](u32, Word word) {
    const u32 home = homeOf(word);
    if (home >= slots) return;
    homes.add(home);
    added++;
  };
  eachAtOnce(0, slots, wordAt, add);
  for (bool isEnd = false; !isEnd; end += WINDOW_BLOCK) {
    if (end - slots >= MOST_BEHIND || end + WINDOW_BLOCK >= table.slotCount()) return false;
    const Word word = wordAt(end + threadIdx.x);
    add(end, word);
    isEnd = __syncthreads_or(Slots::isEmpty(word));
  }
  if (!homes.toPlaces(added)) return false;
  eachAtOnce(0, end, wordAt, [&](u32 i, Word word) {
    const u32 home = homeOf(word);
    if (home >= slots) return;
    const auto value = Slots::valueAtRest(table.shape(), slotAt(i), word);
    Slots::storeShared(window.at(home + homes.add(home)), Slots::keyOf(word), value);
  });
  __syncthreads();
  eachAtOnce(
      window.firstElement, window.firstLeft, [&](u32 i) { return table.keyAt(a.keys.at, i); },
      [&](u32 i, const typename T::Key& key) {
        const u32 home = window.homeOf(table, key);
        if (home >= slots) return window.list(i);
        typename T::Place place = {window.firstSlot, 0, false};
        u32 found = 0;
        // to the end for all, so that a warp stores together
        for (u32 at = homes.firstOf(home), end = homes.endOf(home); at < end; at++) {
          const Word word = window.look(at);
          if (Slots::mayHold(word, key)) place.word = word, place.isThere = true, found = at;
        }
        storeFound(table, a, i, place, window.at(found));
      });
  return true;
}

template <int K, int V> WARPMAP_DEVICE void findWindow(const windows_find_arguments& a) {
  WARPMAP_DYNAMIC_SHARED(memory);
  const Table<K, V> table(a);
  const SharedWindow<K, V> window(table, a, memory);
  if (!window.hasElements()) return;
  window.prefetch(a.keys, 4 * K);
  window.leave(findInOrder(a, table, window) ? window.firstLeft : window.firstElement);
}

}  // namespace warpmap

/// Defines the kernels of a slot format.
#define WINDOW_KERNELS(K, V)                                                                                      \
  WARPMAP_KERNEL(windows_insert_##K##_##V, windows_insert_arguments, 512, 3) { warpmap::insertWindow<K, V>(a); } \
  WARPMAP_KERNEL(windows_erase_##K##_##V, windows_erase_arguments, 512, 3) { warpmap::eraseWindow<K, V>(a); }    \
  WARPMAP_KERNEL(windows_find_##K##_##V, windows_find_arguments, 512, 3) { warpmap::findWindow<K, V>(a); }
WINDOW_KERNELS(1, 0)
WINDOW_KERNELS(1, 1)
WINDOW_KERNELS(2, 0)
WINDOW_KERNELS(1, 2)
WINDOW_KERNELS(2, 1)
WINDOW_KERNELS(2, 2)
