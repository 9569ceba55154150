// insert: puts a batch's keys and values into a table; RULE says what becomes of the values of keys that are there.
//
// Bindings: keys, values (null for sets), mask, hashes (null unless the host hashes), list (null, or the numbers of the
// elements to insert, control.listed of them), isNew and rejected (bytes, may be null). CAREFUL: the batch may have more
// new keys than there are free slots; a key takes a ticket for a slot before it claims one, and gives it back where the
// key turned out to be there. ACCEPT_REJECTED: only elements whose byte in `rejected` is 1 are tried. REUSE: the table
// has tombstones.
//
// insert_each: the same with a thread for each element, where CAREFUL, REUSE and `list` are not asked for. It is faster
// where slots are in the cache and probes are short.
//
// Blocks of 256. Races with itself alone: a slot is claimed by one exchange, and goes from free to taken only, so equal
// keys meet at the first free slot of their sequence. Bytes per element of u32 → u32 at load 0.5: 8 read, a sector of
// 32 read and written.
#include "results.cuh"

namespace warpmap {

/// Takes a free slot into account, if there is one.
WARPMAP_DEVICE bool takeTicket(Control& control) {
  if (int(loadRelaxed((u32*)&control.tickets)) <= 0) return false;
  if (atomicAdd(&control.tickets, -1) > 0) return true;
  atomicAdd(&control.tickets, 1);
  return false;
}

/// Whether an element is tried; of one that is not the flags are written.
WARPMAP_DEVICE bool isTried(const insert_arguments& a, u32 i) {
  if (isSelected(a.mask, i) && (!a.ACCEPT_REJECTED || a.rejected.at[i] != 0)) return true;
  if (!a.ACCEPT_REJECTED) InsertTally::store(a, i, Outcome::EXISTING);
  return false;
}

/// Inserts a key where slots may run out, or tombstones are: looks it up first.
template <class T>
WARPMAP_DEVICE Outcome insertCarefully(const T& table, const insert_arguments& a, const typename T::Probe& probe,
                                       typename T::Value value, u32& longest) {
  const auto place = table.locate(probe);
  const auto change = [&](unsigned char* slot, typename T::Word seen) { table.change(a.RULE, slot, seen, value); };
  if (place.isThere) {
    change(table.at(place.slot), place.word);
    return Outcome::EXISTING;
  }
  // of wider keys those in side slots count as well: a table takes as many keys as it has slots
  const bool takesSlot = a.CAREFUL && (!probe.isSide || table.shape().keyWords > 1);
  if (takesSlot && !takeTicket(table.control())) return Outcome::REJECTED;
  const Outcome outcome = table.put(probe, value, longest, change);
  if (takesSlot && outcome == Outcome::EXISTING) atomicAdd(&table.control().tickets, 1);
  return outcome;
}

/// A call of its own, so that the way without costs it no registers.
template <int K, int V> WARPMAP_DEVICE_CALL void insertBatchCarefully(const insert_arguments& a) {
  const Table<K, V> table(a);
  InsertTally tally(reachAtRest(table.control()));
  struct Nothing {
    WARPMAP_DEVICE bool isFar() const { return false; }
  };
  eachElement<Nothing>(
      a, [&](u32 i) { return table.keyAt(a.keys.at, i); },
      [&](u32 i, const typename Table<K, V>::Key& key, Nothing&) {
        if (!isTried(a, i)) return false;
        const auto probe = probeOf(table, key, a.hashes, i);
        tally.add(a, i, insertCarefully(table, a, probe, table.valueAt(a.values.at, i), tally.longest));
        return false;
      },
      [](u32, Nothing&) { return true; }, [](Nothing&, u32) {});
  tally.flush(table.control());
}

template <int K, int V> WARPMAP_DEVICE void insertBatch(const insert_arguments& a) {
  if (a.CAREFUL || a.REUSE) return insertBatchCarefully<K, V>(a);
  using T = Table<K, V>;
  struct Walk : T::InsertWalk {
    typename T::Value value;
  };
  const T table(a);
  InsertTally tally(reachAtRest(table.control()));
  prefetchSlots(table, a.COUNT, a.AHEAD);
  eachElement<Walk>(
      a, [&](u32 i) { return table.keyAt(a.keys.at, i); },
      [&](u32 i, const typename T::Key& key, Walk& walk) {
        if (!isTried(a, i)) return false;
        const auto probe = probeOf(table, key, a.hashes, i);
        // slots that were asked for are in L2, where an exchange is faster than a load and an exchange
        table.startInsert(probe, a.AHEAD > 0, walk);
        walk.value = table.valueAt(a.values.at, i);
        return true;
      },
      [&](u32 i, Walk& walk) {
        const auto change = [&](unsigned char* slot, typename T::Word word) { table.change(a.RULE, slot, word, walk.value); };
        Outcome outcome;
        if (!table.insertStep(walk, walk.value, tally.longest, change, outcome)) return false;
        tally.add(a, i, outcome);
        return true;
      },
      [&](Walk& walk, u32 lane) { table.template skip<true>(walk, lane, table.slotCount()); });
  tally.flush(table.control());
}

/// Inserts a key, slot by slot out of L1, where one that is taken meanwhile may look free: an exchange tells. The threads
/// of a warp search first, and then claim together.
template <class T>
WARPMAP_DEVICE Outcome insertAtOnce(const T& table, const insert_arguments& a, const typename T::Probe& probe,
                                    typename T::Value value, u32& longest) {
  using Slots = typename T::Slots;
  using Word = typename T::Word;
  Window<Word, Slots::WINDOW> window;
  u32 slot = probe.slot, step = 1;
  if (probe.isSide) window.fill(table.look(slot));
  else window.load(table.at(slot / Slots::WINDOW * Slots::WINDOW));
  for (Word word = window.of(slot);;) {
    while (!Slots::isEmpty(word) && !Slots::holds(table.shape(), table.at(slot), word, probe.key, probe.tag)) {
      if (Slots::isReserved(word)) {
        waitABit();
        word = table.look(slot);
        continue;
      }
      if (step >= table.slotCount() || probe.isSide) return Outcome::REJECTED;
      step++;
      slot = table.after(slot);
      if (slot % Slots::WINDOW == 0) window.load(table.at(slot));
      word = window.of(slot);
    }
    if (!Slots::isEmpty(word)) {
      table.change(a.RULE, table.at(slot), word, value);
      return Outcome::EXISTING;
    }
    const Word seen = word;
    word = Slots::claim(table.shape(), table.at(slot), seen, probe.key, value, probe.tag);
    if (word != seen) continue;
    if (probe.isSide) return Outcome::SIDE_INSERTED;
    longest = max(longest, step);
    return Outcome::INSERTED;
  }
}

template <int K, int V> WARPMAP_DEVICE void insertEach(const insert_arguments& a) {
  const Table<K, V> table(a);
  InsertTally tally(reachAtRest(table.control()));
  const u64 i = u64(blockIdx.x) * BLOCK + threadIdx.x;
  if (i < a.COUNT && isTried(a, u32(i))) {
    const auto probe = probeOf(table, table.keyAt(a.keys.at, i), a.hashes, u32(i));
    tally.add(a, u32(i), insertAtOnce(table, a, probe, table.valueAt(a.values.at, i), tally.longest));
  }
  tally.flush(table.control());
}

constexpr u32 insertBlocks(int K) { return K < 0 ? 4 : 6; }

}  // namespace warpmap

WARPMAP_KERNELS_OF_FORMATS(insert)

#define INSERT_EACH_KERNEL(K, V) \
  WARPMAP_KERNEL(insert_each_##K##_##V, insert_each_arguments, 256, 8) { warpmap::insertEach<K, V>(a); }
INSERT_EACH_KERNEL(1, 0)
INSERT_EACH_KERNEL(1, 1)
INSERT_EACH_KERNEL(2, 0)
INSERT_EACH_KERNEL(1, 2)
INSERT_EACH_KERNEL(2, 1)
INSERT_EACH_KERNEL(2, 2)
