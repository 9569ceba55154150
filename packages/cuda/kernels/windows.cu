// windows_insert, windows_erase: changes of a table by windows (windows.cuh).
//
// Behind a window's slots, windows_insert has a byte for each. IS_EMPTY: the table has no entries and no tombstones, so
// windows are filled, not read. REUSE: it has tombstones, so inserts look keys up first.
//
// Where most slots of an empty window will be taken, entries are laid out in the order of home slots: no probe is long
// then, however full the table is. Other elements probe as they do in memory; a warp takes long probes further together.
//
// Bytes per slot of 8 bytes: 8 read (IS_EMPTY: none), 8 written; per element of u32 → u32: 8 read.
#include "windows.cuh"

namespace warpmap {

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
      const u32 home = window.homeOfEntry(table, key);
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

}  // namespace warpmap

WARPMAP_KERNELS_OF_WINDOWS(insert, 3)
WARPMAP_KERNELS_OF_WINDOWS(erase, 3)
