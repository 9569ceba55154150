// windows_insert, windows_erase: a batch that is sorted by partition (partition.cu), where the slots of a
// partition, its window, fit shared memory. A block reads its window from memory in order, does the partition's elements
// there, and writes the window back.
//
// Bindings: keys, values, as sorted; ends, the place behind each partition's last element; isNew, in the sorted order (may
// be null). The grid has a block for each of the 2^BITS partitions, of 512 threads
// and with shared memory for the largest window: ceil(SLOTS / 2^BITS) slots. IS_EMPTY: the table has no entries and no
// tombstones, so windows are filled, not read. REUSE: it has tombstones, so inserts look keys up first.
//
// A window ends where the next one's first home slot is. Some elements go to `list`, for the direct kernel of the
// operation, which runs next, and looks them up from their home slots on: those whose probe sequence reaches the window's
// end, keys of side slots, and those of a partition behind its first MOST, which keeps one block from working on a hot key
// alone. `control.listed` counts them. Results are those of the direct kernel alone: whatever it meets in a window it
// could have met there, since a key goes to the first free slot of its sequence, and slots do not become empty.
//
// Blocks share no slots. Bytes per slot of 8 bytes: 8 read (IS_EMPTY: none), 8 written; per element of u32 → u32: 8 read.
#include "results.cuh"

namespace warpmap {

constexpr u32 WINDOW_BLOCK = 512;

/// A partition: its elements and, in shared memory, its slots. Slots are counted from the window's first.
template <int K, int V> struct SharedWindow {
  using T = Table<K, V>;
  using Slots = typename T::Slots;
  using Word = typename T::Word;

  /// An element on its way through the slots.
  struct Walk {
    typename T::Key key;
    u32 slot, home;

    WARPMAP_DEVICE u32 steps() const { return slot - home + 1; }
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
    for (u32 word = threadIdx.x; word < slots * (Slots::BYTES / 4); word += WINDOW_BLOCK) ((u32*)memory)[word] = ~0u;
    __syncthreads();
  }
  WARPMAP_DEVICE void write() const {
    using Part = typename WordsOf<Slots::BYTES == 4 ? 1 : 2>::Type;
    __syncthreads();
#pragma unroll 4
    for (u32 i = threadIdx.x; i < slots * (Slots::BYTES / sizeof(Part)); i += WINDOW_BLOCK) ((Part*)origin)[i] = ((Part*)memory)[i];
  }

  /// Puts the elements on the list that are not for this block.
  WARPMAP_DEVICE void leave() const {
    if (firstLeft == endElement) return;
    __shared__ u32 room;
    if (threadIdx.x == 0) room = atomicAdd(listed, endElement - firstLeft);
    __syncthreads();
    for (u32 i = firstLeft + threadIdx.x; i < endElement; i += WINDOW_BLOCK) left[room + i - firstLeft] = i;
  }

  /// Puts an element on the list.
  WARPMAP_DEVICE void list(u32 i) const { left[atomicAdd(listed, 1u)] = i; }
  /// Begins an element; false if it goes to the list.
  WARPMAP_DEVICE bool start(const T& table, const typename T::Key& key, u32 i, Walk& walk) const {
    const auto probe = table.probe(key);
    walk.key = probe.key;
    walk.slot = walk.home = probe.slot - firstSlot;
    if (walk.slot < slots) return true;
    list(i);
    return false;
  }
  WARPMAP_DEVICE static bool holds(Word word, const Walk& walk) { return Slots::holds(WideShape(), nullptr, word, walk.key, 0); }

  /// Inserts a key that is not in the window: at the first slot that is free, or, where an equal key came in meanwhile,
  /// as `change` says. The walk may end behind the window.
  template <class Change> WARPMAP_DEVICE Outcome put(Walk& walk, typename T::Value value, const Change& change) const {
    Word word = look(walk.slot);
    for (;;) {
      if (Slots::isEmpty(word) || Slots::isTombstone(word)) {
        const Word old = Slots::claimShared(at(walk.slot), word, walk.key, value);
        if (old == word) return Slots::isTombstone(word) ? Outcome::REUSED : Outcome::INSERTED;
        word = old;
      } else if (Slots::isReserved(word)) {
        word = look(walk.slot);
      } else if (holds(word, walk)) {
        change(at(walk.slot), word);
        return Outcome::EXISTING;
      } else {
        if (++walk.slot >= slots) return Outcome::REJECTED;
        word = look(walk.slot);
      }
    }
  }
  /// Searches a key; false where the walk ends behind the window.
  WARPMAP_DEVICE bool locate(Walk& walk, u32 reach, typename T::Place& place) const {
    for (; walk.slot < slots; walk.slot++) {
      const Word word = look(walk.slot);
      place = {walk.slot, word, holds(word, walk)};
      if (place.isThere || Slots::isEmpty(word) || walk.steps() >= reach) return true;
    }
    return false;
  }
};

/// Goes through the elements of a window's block: fetch(i) loads what visit(i, fetched, walk) needs, one element ahead.
/// Probes in shared memory are short, so a warp waits for its longest.
template <class T, class Window, class Fetch, class Visit>
WARPMAP_DEVICE void eachOfWindow(const T& table, const Window& window, const Fetch& fetch, const Visit& visit) {
  window.leave();
  u32 i = window.firstElement + threadIdx.x;
  if (i >= window.firstLeft) return;
  auto next = fetch(i);
  for (; i < window.firstLeft; i += WINDOW_BLOCK) {
    const auto fetched = next;
    if (i + WINDOW_BLOCK < window.firstLeft) next = fetch(i + WINDOW_BLOCK);
    typename Window::Walk walk;
    if (window.start(table, fetched.key, i, walk)) visit(i, fetched, walk);
  }
}

template <int K, int V, bool REUSES, class Window>
WARPMAP_DEVICE void insertElements(const windows_insert_arguments& a, const Table<K, V>& table, const Window& window, InsertTally& tally) {
  using T = Table<K, V>;
  struct Element {
    typename T::Key key;
    typename T::Value value;
  };
  eachOfWindow(
      table, window, [&](u32 i) { return Element{table.keyAt(a.keys.at, i), table.valueAt(a.values.at, i)}; },
      [&](u32 i, const Element& element, typename Window::Walk& walk) {
        const auto change = [&](unsigned char* slot, typename T::Word word) { table.change(a.RULE, slot, word, element.value); };
        Outcome outcome = Outcome::EXISTING;
        typename T::Place place = {0, 0, false};
        if (REUSES) {
          if (!window.locate(walk, tally.before, place)) return window.list(i);
          if (place.isThere) change(window.at(place.slot), place.word);
          walk.slot = walk.home;
        }
        if (!place.isThere) outcome = window.put(walk, element.value, change);
        if (outcome == Outcome::REJECTED) return window.list(i);
        if (outcome < Outcome::EXISTING && walk.steps() > tally.longest) tally.longest = walk.steps();
        tally.count(outcome);
        if (a.isNew.at != nullptr) a.isNew.at[i] = outcome < Outcome::EXISTING;
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
  using Slots = typename T::Slots;
  struct Element {
    typename T::Key key;
  };
  WARPMAP_DYNAMIC_SHARED(memory);
  const T table(a);
  const Window window(table, a, memory);
  const u32 reach = reachAtRest(table.control());
  const BlockCounts<1> counts;
  u32 erased = 0;
  if (!window.hasElements()) return;
  window.prefetch(a.keys, 4 * K);
  window.read();
  eachOfWindow(
      table, window, [&](u32 i) { return Element{table.keyAt(a.keys.at, i)}; },
      [&](u32 i, const Element&, typename Window::Walk& walk) {
        typename T::Place place;
        if (!window.locate(walk, reach, place)) return window.list(i);
        erased += place.isThere && Slots::erase(window.at(place.slot), place.word, Slots::Marks::TOMBSTONE);
      });
  counts.addAll(0, erased);
  counts.flush({&table.control().erased});
  window.write();
}

}  // namespace warpmap

/// Defines the kernels of a slot format.
#define WINDOW_KERNELS(K, V)                                                                                      \
  WARPMAP_KERNEL(windows_insert_##K##_##V, windows_insert_arguments, 512, 3) { warpmap::insertWindow<K, V>(a); } \
  WARPMAP_KERNEL(windows_erase_##K##_##V, windows_erase_arguments, 512, 3) { warpmap::eraseWindow<K, V>(a); }
WINDOW_KERNELS(1, 0)
WINDOW_KERNELS(1, 1)
WINDOW_KERNELS(2, 0)
WINDOW_KERNELS(1, 2)
WINDOW_KERNELS(2, 1)
WINDOW_KERNELS(2, 2)
