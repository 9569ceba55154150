// What inserts and look-ups say of the elements of a batch: counters, flags, values.
#pragma once
#include "batch.cuh"

namespace warpmap {

/// Counts of what became of elements, and how far the slots of new keys are from home.
struct InsertTally {
  BlockCounts<5> counts;
  u32 inserted = 0, existing = 0, before, longest;

  WARPMAP_DEVICE explicit InsertTally(u32 reach) : before(reach), longest(reach) {}

  WARPMAP_DEVICE void count(Outcome outcome) {
    inserted += outcome < Outcome::EXISTING;
    existing += outcome == Outcome::EXISTING;
    if (outcome != Outcome::INSERTED && outcome != Outcome::EXISTING) counts.addOne(u32(outcome));
  }
  /// Counts an element, and writes its flags.
  WARPMAP_DEVICE void add(const insert_arguments& a, u32 i, Outcome outcome) {
    count(outcome);
    store(a, i, outcome);
  }
  WARPMAP_DEVICE static void store(const insert_arguments& a, u32 i, Outcome outcome) {
    const bool isNew = outcome < Outcome::EXISTING;
    if (a.isNew.at != nullptr && (isNew || !a.ACCEPT_REJECTED)) a.isNew.at[i] = isNew;
    if (a.rejected.at != nullptr) a.rejected.at[i] = outcome == Outcome::REJECTED;
  }
  /// All threads of the block call it.
  WARPMAP_DEVICE void flush(Control& to) const {
    raiseReach(to, before, longest);
    counts.addAll(u32(Outcome::INSERTED), inserted);
    counts.addAll(u32(Outcome::EXISTING), existing);
    counts.flush({&to.inserted, &to.reused, &to.sideInserted, &to.existing, &to.rejected});
  }
};

/// Writes `count` words of a value; those of absent ones are the two that stand for it, then zeros.
template <class Arguments>
WARPMAP_DEVICE void storeWideValue(u32* to, const u32* from, u32 count, const Arguments& a) {
  for (u32 w = 0; w < count; w++) {
    to[w] = from != nullptr ? from[w] : w == 0 ? a.MISSING : w == 1 ? a.MISSING_HIGH : 0;
  }
}

/// Writes the results of element `i`; `at` is where its slot is, if it has one.
template <int K, int V, class Arguments>
WARPMAP_DEVICE void storeFound(const Table<K, V>& table, const Arguments& a, u32 i,
                               const typename Table<K, V>::Place& place, const unsigned char* at) {
  using Slots = typename Table<K, V>::Slots;
  const bool isThere = place.isThere;
  if (a.found.at != nullptr) a.found.at[i] = isThere;
  if (a.values.at == nullptr) return;
  if constexpr (K < 0) {
    const WideShape& shape = table.shape();
    const bool isSet = shape.valueWords == 0;
    const u32 words = isSet ? shape.keyWords : shape.valueWords;
    const u32* slot = (const u32*)at;
    const u32* from = !isThere ? nullptr : isSet ? slot + 1 : slot + shape.valueOffset;
    storeWideValue((u32*)a.values.at + u64(i) * words, from, words, a);
  } else if constexpr (V == 0) {
    const u64 missing = a.MISSING | u64(a.MISSING_HIGH) << 32;
    const auto key = isThere ? table.keyIn(place.slot, place.word) : typename Slots::Key(missing);
    Slots::storeKey(table.shape(), a.values.at, i, key);
  } else {
    using Value = typename Slots::Value;
    Value value = Value(a.MISSING | u64(a.MISSING_HIGH) << 32);
    if (isThere) value = Slots::valueAtRest(table.shape(), at, place.word);
    ((Value*)a.values.at)[i] = value;
  }
}

}  // namespace warpmap
