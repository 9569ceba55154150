// raise: the greatest word of each group, of one word of its values from the highest down (`phase`), among the rows
// that have the words above; flipped words find the least value. After all words: a row that has them, the first one or
// the last (`latest`), the first one as the greatest of ~row. Without VALUED it looks for rows alone. States are 0 at
// first; no row's number is written as 0.
//
// `items` rows a thread. Shares: the states of this phase, which only rise; those of phases before do not change. Bytes
// per row: 4 and the value read, and the group's states, which stay in the cache where groups are few.
#include "group-cache.cuh"

namespace warpmap::rows {

template <class Arguments, class Rows> struct Raise {
  struct Entry {
    bool isTaken;
    RowKey key;
    u32 word;
  };

  const Arguments& a;
  Rows rows;
  Column column;
  GroupCache cache;

  WARPMAP_DEVICE explicit Raise(const Arguments& a) : a(a), rows{a}, column(a), cache(a, a.params.replicas) {}

  WARPMAP_DEVICE u32 kept() const { return 1; }
  WARPMAP_DEVICE bool isFutile() const { return false; }
  WARPMAP_DEVICE u32* stateOf(u32 phase, u32 group) const { return wordsOf(a.states) + u64(phase) * a.params.groups + group; }

  WARPMAP_DEVICE Entry entryOf(const RowWord& row, const Loaded& value) const {
    const RowKey key = rows.keyOf(row);
    if (!a.VALUED) return {true, key, rowWord(row.row)};
    return {isCandidate(value, key), key, wordOf(value)};
  }
  WARPMAP_DEVICE u32 valueWord(const Loaded& value, u32 phase) const {
    return column.orderedWord(value, a.params.words - 1 - phase) ^ a.params.flip;
  }
  WARPMAP_DEVICE bool isCandidate(const Loaded& value, const RowKey& key) const {
    if (column.isNull(value)) return false;
    if (a.params.phase == 0) return true;
    const u32 group = rows.groupOf(key);
    for (u32 k = 0; k < a.params.phase; k++) {
      if (valueWord(value, k) != *stateOf(k, group)) return false;
    }
    return true;
  }
  WARPMAP_DEVICE u32 wordOf(const Loaded& value) const {
    return a.params.phase < a.params.words ? valueWord(value, a.params.phase) : rowWord(value.row);
  }
  WARPMAP_DEVICE u32 rowWord(u32 row) const { return a.params.latest == 1 ? row + 1 : ~row; }
  WARPMAP_DEVICE void takeAway(const Entry& entry) const { raise(stateOf(a.params.phase, rows.groupOf(entry.key)), entry.word); }
  WARPMAP_DEVICE void take(u32 slot, const Entry& entry) const { raise(cache.kept(0) + slot, entry.word); }
  WARPMAP_DEVICE void merge(u32 slot, const RowKey& key) const {
    raise(stateOf(a.params.phase, rows.groupOf(key)), cache.kept(0)[slot]);
  }
};

WARPMAP_KERNEL(reduce_raise_numbered, reduce_raise_numbered_arguments, 1024) {
  const Raise<reduce_raise_numbered_arguments, NumberedRows<reduce_raise_numbered_arguments>> body(a);
  overGroups(a, body);
}
WARPMAP_KERNEL(reduce_raise_keyed, reduce_raise_keyed_arguments, 1024) {
  const Raise<reduce_raise_keyed_arguments, KeyedRows<reduce_raise_keyed_arguments>> body(a);
  overGroups(a, body);
}
WARPMAP_KERNEL(reduce_raise_listed, reduce_raise_listed_arguments, 1024) {
  const Raise<reduce_raise_listed_arguments, ListedRows<reduce_raise_listed_arguments>> body(a);
  overGroups(a, body);
}

}  // namespace warpmap::rows
