// find: looks a batch's keys up. `found` (may be null) gets a byte an element, `values` (may be null) the value, or
// MISSING, MISSING_HIGH as its first two words where the key is absent; of sets the stored key and as many words.
// Elements that the mask leaves out are absent. `list` (may be null) has the numbers of the elements to look up,
// control.listed of them.
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

}  // namespace warpmap

WARPMAP_KERNELS_OF_FORMATS(find)
