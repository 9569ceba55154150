// erase: takes a batch's keys out of a table, or those of the elements in `list` (may be null), control.listed of them.
// Of equal keys exactly one counts.
//
// Blocks of 256. Races with itself alone: an entry is taken out by one exchange of its key or state word. Bytes per
// element of u32 → u32 at load 0.5: 4 read, a sector of 32 read and written.
#include "batch.cuh"

namespace warpmap {

template <int K, int V> WARPMAP_DEVICE void eraseBatch(const erase_arguments& a) {
  using T = Table<K, V>;
  const T table(a);
  const u32 reach = reachAtRest(table.control());
  const BlockCounts<2> counts;
  u32 erased = 0;
  eachElement<typename T::Walk>(
      a, [&](u32 i) { return table.keyAt(a.keys.at, i); },
      [&](u32 i, const typename T::Key& key, typename T::Walk& walk) {
        if (!isSelected(a.mask, i)) return false;
        table.start(probeOf(table, key, a.hashes, i), walk);
        return true;
      },
      [&](u32, typename T::Walk& walk) {
        typename T::Place place;
        if (!table.search(walk, reach, place)) return false;
        // an entry that was seen in L1 may be gone: then the exchange fails, as it does for the later of two equal keys
        if (!place.isThere || !table.eraseAt(place, walk.probe.isSide)) return true;
        erased++;
        if (walk.probe.isSide) counts.addOne(1);
        return true;
      },
      [&](typename T::Walk& walk, u32 lane) { table.template skip<false>(walk, lane, reach); });
  counts.addAll(0, erased);
  counts.flush({&table.control().erased, &table.control().sideErased});
}

constexpr u32 eraseBlocks(int K) { return K < 0 ? 4 : 8; }

}  // namespace warpmap

WARPMAP_KERNELS_OF_FORMATS(erase)
