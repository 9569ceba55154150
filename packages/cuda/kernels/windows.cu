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
  u32* list;
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
    list = (u32*)a.list.at;
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
    for (u32 i = firstLeft + threadIdx.x; i < endElement; i += WINDOW_BLOCK) list[room + i - firstLeft] = i;
  }

  /// Begins an element; false if it goes to the list.
  WARPMAP_DEVICE bool start(const T& table, const typename T::Key& key, u32 i, Walk& walk) const {
    const auto probe = table.probe(key);
    walk.key = probe.key;
    walk.slot = walk.home = probe.slot - firstSlot;
    return !isBehind(walk, i);
  }
  /// Whether a walk is behind the window's end; then its element goes to the list.
  WARPMAP_DEVICE bool isBehind(const Walk& walk, u32 i) const {
    if (walk.slot < slots) return false;
    list[atomicAdd(listed, 1u)] = i;
    return true;
  }
  WARPMAP_DEVICE static bool holds(Word word, const Walk& walk) { return Slots::holds(WideShape(), nullptr, word, walk.key, 0); }

  /// A step of a search, as Table::search: whether it ends at this slot. If not, the walk is at the next.
  WARPMAP_DEVICE bool search(Walk& walk, u32 reach, typename T::Place& place) const {
    const Word word = look(walk.slot);
    place = {walk.slot, word, holds(word, walk)};
    if (place.isThere || Slots::isEmpty(word) || walk.steps() >= reach) return true;
    walk.slot++;
    return false;
  }
  /// A step of an insert, as Table::insertStep: whether it ends at this slot, or is behind the window's end.
  template <class Change>
  WARPMAP_DEVICE bool put(Walk& walk, typename T::Value value, const Change& change, Outcome& outcome) const {
    const Word word = look(walk.slot);
    if (Slots::isEmpty(word) || Slots::isTombstone(word)) {
      outcome = Slots::isTombstone(word) ? Outcome::REUSED : Outcome::INSERTED;
      return Slots::claimShared(at(walk.slot), word, walk.key, value) == word;
    }
    if (Slots::isReserved(word)) return false;
    if (holds(word, walk)) {
      change(at(walk.slot), word);
      outcome = Outcome::EXISTING;
      return true;
    }
    return ++walk.slot >= slots;
  }
};

/// Goes through the elements of a window's block, one a thread after the other: fetch(i) loads one ahead; begin(i,
/// fetched, walk) answers false for an element that is done with at once; step(i, walk) answers whether it was the last.
/// Probes in shared memory are short, so a warp waits for its longest.
template <class Walk, class Window, class Fetch, class Begin, class Step>
WARPMAP_DEVICE void eachOfWindow(const Window& window, const Fetch& fetch, const Begin& begin, const Step& step) {
  window.leave();
  u32 i = window.firstElement + threadIdx.x;
  if (i >= window.firstLeft) return;
  auto next = fetch(i);
  for (; i < window.firstLeft; i += WINDOW_BLOCK) {
    const auto fetched = next;
    if (i + WINDOW_BLOCK < window.firstLeft) next = fetch(i + WINDOW_BLOCK);
    Walk walk;
    if (!begin(i, fetched, walk)) continue;
    while (!step(i, walk)) {
    }
  }
}

template <int K, int V> WARPMAP_DEVICE void insertWindow(const windows_insert_arguments& a) {
  using T = Table<K, V>;
  using Window = SharedWindow<K, V>;
  struct Element {
    typename T::Key key;
    typename T::Value value;
  };
  struct Walk : Window::Walk {
    typename T::Value value;
    bool isLookUp;
  };
  WARPMAP_DYNAMIC_SHARED(memory);
  const T table(a);
  const Window window(table, a, memory);
  InsertTally tally(reachAtRest(table.control()));
  if (!window.hasElements()) return;
  window.prefetch(a.keys, 4 * K);
  window.prefetch(a.values, 4 * V);
  if (a.IS_EMPTY) window.fill();
  else window.read();
  eachOfWindow<Walk>(
      window, [&](u32 i) { return Element{table.keyAt(a.keys.at, i), table.valueAt(a.values.at, i)}; },
      [&](u32 i, const Element& element, Walk& walk) {
        walk.value = element.value;
        walk.isLookUp = a.REUSE;
        return window.start(table, element.key, i, walk);
      },
      [&](u32 i, Walk& walk) {
        const auto change = [&](unsigned char* slot, typename T::Word word) { table.change(a.RULE, slot, word, walk.value); };
        Outcome outcome = Outcome::EXISTING;
        if (walk.isLookUp) {
          typename T::Place place;
          if (!window.search(walk, tally.before, place)) return window.isBehind(walk, i);
          if (!place.isThere) {
            walk.slot = walk.home;
            walk.isLookUp = false;
            return false;
          }
          change(window.at(place.slot), place.word);
        } else {
          if (!window.put(walk, walk.value, change, outcome)) return false;
          if (window.isBehind(walk, i)) return true;
        }
        if (outcome < Outcome::EXISTING && walk.steps() > tally.longest) tally.longest = walk.steps();
        tally.count(outcome);
        if (a.isNew.at != nullptr) a.isNew.at[i] = outcome < Outcome::EXISTING;
        return true;
      });
  tally.flush(table.control());
  window.write();
}

template <int K, int V> WARPMAP_DEVICE void eraseWindow(const windows_erase_arguments& a) {
  using T = Table<K, V>;
  using Walk = typename SharedWindow<K, V>::Walk;
  using Slots = typename T::Slots;
  WARPMAP_DYNAMIC_SHARED(memory);
  const T table(a);
  const SharedWindow<K, V> window(table, a, memory);
  const u32 reach = reachAtRest(table.control());
  const BlockCounts<1> counts;
  u32 erased = 0;
  if (!window.hasElements()) return;
  window.prefetch(a.keys, 4 * K);
  window.read();
  eachOfWindow<Walk>(
      window, [&](u32 i) { return table.keyAt(a.keys.at, i); },
      [&](u32 i, const typename T::Key& key, Walk& walk) { return window.start(table, key, i, walk); },
      [&](u32 i, Walk& walk) {
        typename T::Place place;
        if (!window.search(walk, reach, place)) return window.isBehind(walk, i);
        erased += place.isThere && Slots::erase(window.at(place.slot), place.word, Slots::Marks::TOMBSTONE);
        return true;
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
