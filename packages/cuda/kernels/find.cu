// find: looks a batch's keys up. `found` (may be null) gets a byte an element, `values` (may be null) the value, or
// MISSING, MISSING_HIGH as its first two words where the key is absent; of sets the stored key and as many words.
// Elements that the mask leaves out are absent.
//
// Blocks of 256. No insert runs beside it. Bytes per element of u32 → u32: 4 read, a sector of 32 read (load 0.5), 5
// written.
#include "batch.cuh"

namespace warpmap {

/// Writes `count` words of a value; those of absent ones are the two that stand for it, then zeros.
WARPMAP_DEVICE void storeWideValue(u32* to, const u32* from, u32 count, const find_arguments& a) {
  for (u32 w = 0; w < count; w++) {
    to[w] = from != nullptr ? from[w] : w == 0 ? a.MISSING : w == 1 ? a.MISSING_HIGH : 0;
  }
}

template <int K, int V>
WARPMAP_DEVICE void storeFound(const Table<K, V>& table, const find_arguments& a, u32 i, bool isThere,
                               const typename Table<K, V>::Place& place) {
  using Slots = typename Table<K, V>::Slots;
  if (a.found.at != nullptr) a.found.at[i] = isThere;
  if (a.values.at == nullptr) return;
  if constexpr (K < 0) {
    const WideShape& shape = table.shape();
    const bool isSet = shape.valueWords == 0;
    const u32 words = isSet ? shape.keyWords : shape.valueWords;
    const u32* slot = (const u32*)table.at(place.slot);
    const u32* from = !isThere ? nullptr : isSet ? slot + 1 : slot + shape.valueOffset;
    storeWideValue((u32*)a.values.at + u64(i) * words, from, words, a);
  } else if constexpr (V == 0) {
    const u64 missing = a.MISSING | u64(a.MISSING_HIGH) << 32;
    const auto key = isThere ? table.keyIn(place.slot, place.word) : typename Slots::Key(missing);
    Slots::storeKey(table.shape(), a.values.at, i, key);
  } else {
    using Value = typename Slots::Value;
    Value value = Value(a.MISSING | u64(a.MISSING_HIGH) << 32);
    if (isThere) value = Slots::valueAtRest(table.shape(), table.at(place.slot), place.word);
    ((Value*)a.values.at)[i] = value;
  }
}

template <int K, int V> WARPMAP_DEVICE void findBatch(const find_arguments& a) {
  using T = Table<K, V>;
  const T table(a);
  const u32 reach = reachAtRest(table.control());
  prefetchSlots(table, a.COUNT, a.AHEAD);
  eachElement<typename T::Walk>(
      a.COUNT, [&](u32 i) { return table.keyAt(a.keys.at, i); },
      [&](u32 i, const typename T::Key& key, typename T::Walk& walk) {
        if (!isSelected(a.mask, i)) {
          storeFound<K, V>(table, a, i, false, typename T::Place());
          return false;
        }
        table.start(probeOf(table, key, a.hashes, i), walk);
        return true;
      },
      [&](u32 i, typename T::Walk& walk) {
        typename T::Place place;
        if (!table.search(walk, reach, place)) return false;
        storeFound<K, V>(table, a, i, place.isThere, place);
        return true;
      });
}

constexpr u32 findBlocks(int K) { return K < 0 ? 4 : 8; }

}  // namespace warpmap

WARPMAP_KERNELS_OF_FORMATS(find)
