// find: looks a batch's keys up. `found` (may be null) gets a byte an element, `values` (may be null) the value, or
// MISSING, MISSING_HIGH as its first two words where the key is absent; of sets the stored key and as many words.
// Elements that the mask leaves out are absent. `list` (may be null) has the numbers of the elements to look up,
// control.listed of them.
//
// find_each: the same with a thread for each element, without a list. It is faster where probes are short.
//
// Blocks of 256. No insert runs beside it. Bytes per element of u32 → u32: 4 read, a sector of 32 read (load 0.5), 5
// written.
#include "results.cuh"

namespace warpmap {

template <int K, int V> WARPMAP_DEVICE void findBatch(const find_arguments& a) {
  using T = Table<K, V>;
  const T table(a);
  const u32 reach = reachAtRest(table.control());
  eachElement<typename T::Walk>(
      a, [&](u32 i) { return table.keyAt(a.keys.at, i); },
      [&](u32 i, const typename T::Key& key, typename T::Walk& walk) {
        if (!isSelected(a.mask, i)) {
          storeFound(table, a, i, typename T::Place(), nullptr);
          return false;
        }
        table.start(probeOf(table, key, a.hashes, i), walk);
        return true;
      },
      [&](u32 i, typename T::Walk& walk) {
        typename T::Place place;
        if (!table.search(walk, reach, place)) return false;
        storeFound(table, a, i, place, table.at(place.slot));
        return true;
      },
      [&](typename T::Walk& walk, u32 lane) { table.template skip<false>(walk, lane, reach); });
}

constexpr u32 findBlocks(int K) { return K < 0 ? 4 : 8; }

/// Searches a key slot by slot, out of L1; a warp waits for its longest probe.
template <class T> WARPMAP_DEVICE typename T::Place searchAtOnce(const T& table, const typename T::Probe& probe, u32 reach) {
  using Slots = typename T::Slots;
  if (probe.isSide) return table.locate(probe, reach, table.look(probe.slot));
  Window<typename T::Word, Slots::WINDOW> window;
  window.load(table.at(probe.slot / Slots::WINDOW * Slots::WINDOW));
  u32 slot = probe.slot;
  for (u32 step = 1;; step++) {
    const typename T::Word word = window.of(slot);
    const bool isThere = Slots::holds(table.shape(), table.at(slot), word, probe.key, probe.tag);
    if (isThere || Slots::isEmpty(word) || step >= reach) return {slot, word, isThere};
    slot = table.after(slot);
    if (slot % Slots::WINDOW == 0) window.load(table.at(slot));
  }
}

template <int K, int V> WARPMAP_DEVICE void findEach(const find_each_arguments& a) {
  using T = Table<K, V>;
  const T table(a);
  const u32 reach = reachAtRest(table.control());
  const u64 i = u64(blockIdx.x) * BLOCK + threadIdx.x;
  if (i >= a.COUNT) return;
  typename T::Place place = {0, 0, false};
  if (isSelected(a.mask, u32(i))) {
    place = searchAtOnce(table, probeOf(table, table.keyAt(a.keys.at, i), a.hashes, u32(i)), reach);
  }
  storeFound(table, a, u32(i), place, table.at(place.slot));
}

}  // namespace warpmap

WARPMAP_KERNELS_OF_FORMATS(find)

#define FIND_EACH_KERNEL(K, V) \
  WARPMAP_KERNEL(find_each_##K##_##V, find_each_arguments, 256, 8) { warpmap::findEach<K, V>(a); }
FIND_EACH_KERNEL(1, 0)
FIND_EACH_KERNEL(1, 1)
FIND_EACH_KERNEL(2, 0)
FIND_EACH_KERNEL(1, 2)
FIND_EACH_KERNEL(2, 1)
FIND_EACH_KERNEL(2, 2)
