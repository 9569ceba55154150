// add_values: counts the values of each group, adds them up (SUMMED), and finds the first row of each group as the
// greatest of ~row (FIRSTS; then all values count). A state is the count, WORDS + 1 words of a sum that 2^31 values of
// WORDS words cannot leave, and where some floats are infinite or NaN a word of marks. States and first rows are 0 at
// first; so are those of slots that no group has in the end. A block adds values of one word up as two halves: its 2^16
// rows at most carry nothing over, and additions that need no answer wait for none.
//
// count_keys: the same where groups are not known yet: gives each a slot of a table (groups-of-rows.cuh). Where the
// table has no slot for a group it sets control.keysLeft: then the host does without what it makes.
//
// sample_keys: tells that before count_keys begins, where some rows already have more different keys than there are
// slots, and how many slots of a block's cache (`groups`) a group may have where these keys are few: one block of 256,
// 64 rows a thread, one anywhere in each of as many equal parts: keys may come again at regular distances.
//
// `items` rows a thread. Shares: the table, whose slots change once, the states, by addition alone, marks, which are
// only set, and first rows, which only rise. Bytes per row: the key, or what tells the group, and the value read, and
// where a group has no slot in the cache up to 4 × stride at random; a slot that is taken is merged once a block.
#include "group-cache.cuh"

namespace warpmap::rows {

/// Steps after which a probe asks whether others have found the table full.
constexpr u32 CLAIM_PATIENCE = 8;

/// Groups that this block gave slots to.
WARPMAP_DEVICE u32* claimed() {
  __shared__ u32 count;
  return &count;
}

/// Groups that have numbers.
template <class Rows> struct KnownGroups {
  const Rows& rows;

  WARPMAP_DEVICE bool areTooMany() const { return false; }
  WARPMAP_DEVICE u32 numberOf(const RowKey& key) const { return rows.groupOf(key); }
};

/// Groups that get slots as they are met.
template <class Arguments, class Rows> struct ClaimedGroups {
  const Arguments& a;
  const Rows& rows;

  WARPMAP_DEVICE RowControl& control() const { return controlOf(a.control); }
  /// The table is known to have too few slots.
  WARPMAP_DEVICE bool areTooMany() const { return loadRelaxed(&control().keysLeft) != 0; }

  /// NO_ROW where the table has no slot for the group. A probe passes no slot that is empty, so a group has one slot.
  WARPMAP_DEVICE u32 numberOf(const RowKey& key) const {
    if (key.isNull) return a.params.slots;
    u32* table = wordsOf(a.table);
    for (u32 step = 0; step < a.params.steps; step++) {
      const u32 slot = rows.slotAfterHome(key.identity, step);
      const u32 wanted = rows.heldBy(key.identity, step);
      u32 seen = loadRelaxed(table + slot);
      if (seen == 0) {
        seen = compareExchange(table + slot, 0u, wanted);
        if (seen == 0) {
          atomicAdd(claimed(), 1u);
          return slot;
        }
      }
      if (seen == wanted) return slot;
      if (step + 1 == CLAIM_PATIENCE && areTooMany()) break;
    }
    storeRelaxed(&control().keysLeft, 1u);
    *(volatile u32*)stopped() = 1;
    return NO_ROW;
  }
};

template <class Arguments, class Rows, class Groups, u32 MOST> struct AddValues {
  struct Entry {
    bool isTaken;
    RowKey key;
    u32 row;
    Addend<MOST> addend;
  };

  const Arguments& a;
  const Rows& rows;
  const Groups& groups;
  Column column;
  GroupCache cache;
  u32 words;

  WARPMAP_DEVICE AddValues(const Arguments& a, const Rows& rows, const Groups& groups, u32 replicas)
      : a(a), rows(rows), groups(groups), column(a), cache(a, replicas), words(wordsIn<MOST>(a.WORDS)) {}

  /// A count, the words of a sum, and a first row.
  WARPMAP_DEVICE u32 kept() const { return 1 + (a.SUMMED ? words + 1 : 0) + (a.FIRSTS ? 1 : 0); }
  WARPMAP_DEVICE u32* counts() const { return cache.kept(0); }
  WARPMAP_DEVICE u32* sums() const { return cache.kept(1); }
  WARPMAP_DEVICE u32* firsts() const { return cache.kept(a.SUMMED ? words + 2 : 1); }
  WARPMAP_DEVICE bool isFutile() const { return groups.areTooMany(); }
  WARPMAP_DEVICE u32* stateOf(u32 group) const { return wordsOf(a.states) + u64(group) * a.params.stride; }

  WARPMAP_DEVICE Entry entryOf(const RowWord& row, const Loaded& value) const {
    Entry entry;
    entry.row = row.row;
    entry.isTaken = a.FIRSTS || !column.isNull(value);
    entry.key = rows.keyOf(row);
    if (a.SUMMED) entry.addend = addendOf<MOST>(column, value, a.params.lowest, words);
    // a word behind the sum has marks
    if (a.SUMMED && a.params.stride > words + 2 && entry.isTaken) mark(entry.key, column.wholeFloat(value).marks);
    return entry;
  }
  /// Of the last row more than once, perhaps.
  WARPMAP_DEVICE void mark(const RowKey& key, u32 marks) const {
    if (marks == 0) return;
    const u32 group = groups.numberOf(key);
    if (group == NO_ROW) return;
    u32* at = stateOf(group) + words + 2;
    // reading waits for nobody
    if ((loadRelaxed(at) & marks) != marks) atomicOr(at, marks);
  }
  WARPMAP_DEVICE void addToAll(u32 group, u32 count, const Addend<MOST>& sum, u32 top, u32 first) const {
    if (group == NO_ROW) return;
    u32* state = stateOf(group);
    atomicAdd(state, count);
    if (a.SUMMED) addWords(state + 1, 1, sum, words, top);
    if (a.FIRSTS) raise(wordsOf(a.firsts) + group, first);
  }
  WARPMAP_DEVICE void takeAway(const Entry& entry) const {
    addToAll(groups.numberOf(entry.key), 1, entry.addend, 0, ~entry.row);
  }
  WARPMAP_DEVICE void take(u32 slot, const Entry& entry) const {
    atomicAdd(counts() + slot, 1u);
    if (a.FIRSTS) raise(firsts() + slot, ~entry.row);
    if (!a.SUMMED) return;
    if constexpr (MOST == 1) {
      atomicAdd(sums() + slot, entry.addend.word[0] & 0xffff);
      atomicAdd(sums() + cache.slots + 1 + slot, entry.addend.word[0] >> 16);
    } else {
      addWords(sums() + slot, cache.slots + 1, entry.addend, words);
    }
  }
  WARPMAP_DEVICE void merge(u32 slot, const RowKey& key) const {
    Addend<MOST> sum = {};
    u32 top = 0;
    if (a.SUMMED) {
#pragma unroll
      for (u32 k = 0; k < MOST; k++) {
        if (k < words) sum.word[k] = sums()[k * (cache.slots + 1) + slot];
      }
      top = sums()[words * (cache.slots + 1) + slot];
      if constexpr (MOST == 1) {
        const u64 whole = sum.word[0] + (u64(top) << 16);
        sum.word[0] = u32(whole);
        top = u32(whole >> 32);
      }
    }
    addToAll(groups.numberOf(key), counts()[slot], sum, top, a.FIRSTS ? firsts()[slot] : 0);
  }
};

template <u32 MOST, class Rows, class Arguments> WARPMAP_DEVICE void addValues(const Arguments& a) {
  const Rows rows{a};
  const KnownGroups<Rows> groups{rows};
  overGroups(a, AddValues<Arguments, Rows, KnownGroups<Rows>, MOST>(a, rows, groups, a.params.replicas));
}
template <u32 MOST> WARPMAP_DEVICE void addNumbered(const reduce_add_values_numbered_arguments& a) {
  addValues<MOST, NumberedRows<reduce_add_values_numbered_arguments>>(a);
}
template <u32 MOST> WARPMAP_DEVICE void addKeyed(const reduce_add_values_keyed_arguments& a) {
  addValues<MOST, KeyedRows<reduce_add_values_keyed_arguments>>(a);
}
template <u32 MOST> WARPMAP_DEVICE void addListed(const reduce_add_values_listed_arguments& a) {
  addValues<MOST, ListedRows<reduce_add_values_listed_arguments>>(a);
}

template <u32 MOST, class Rows, class Arguments> WARPMAP_DEVICE void countKeys(const Arguments& a) {
  const Rows rows{a};
  const ClaimedGroups<Arguments, Rows> groups{a, rows};
  RowControl& control = groups.control();
  // the barriers of overGroups are behind this
  if (threadIdx.x == 0) *claimed() = 0;
  using Body = AddValues<Arguments, Rows, ClaimedGroups<Arguments, Rows>, MOST>;
  const Body body(a, rows, groups, loadRelaxed(&control.keyReplicas));
  overGroups(a, body);
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (body.cache.holders[body.cache.slots] != 0) storeRelaxed(&control.keyNulls, 1u);
  if (*claimed() > 0) atomicAdd(&control.keyGroups, *claimed());
}
template <u32 MOST> WARPMAP_DEVICE void countKeyed(const reduce_count_keys_keyed_arguments& a) {
  countKeys<MOST, KeyedRows<reduce_count_keys_keyed_arguments>>(a);
}
template <u32 MOST> WARPMAP_DEVICE void countListed(const reduce_count_keys_listed_arguments& a) {
  countKeys<MOST, ListedRows<reduce_count_keys_listed_arguments>>(a);
}

WARPMAP_KERNELS_OF_WORDS(reduce_add_values_numbered, reduce_add_values_numbered_arguments, 1024, addNumbered)
WARPMAP_KERNELS_OF_WORDS(reduce_add_values_keyed, reduce_add_values_keyed_arguments, 1024, addKeyed)
WARPMAP_KERNELS_OF_WORDS(reduce_add_values_listed, reduce_add_values_listed_arguments, 1024, addListed)
WARPMAP_KERNELS_OF_WORDS(reduce_count_keys_keyed, reduce_count_keys_keyed_arguments, 1024, countKeyed)
WARPMAP_KERNELS_OF_WORDS(reduce_count_keys_listed, reduce_count_keys_listed_arguments, 1024, countListed)

WARPMAP_KERNEL(reduce_sample_keys, reduce_sample_keys_arguments, 256) {
  constexpr u32 SAMPLES = 64;
  /// Different keys may have one bit, so there are as many keys as bits at least.
  constexpr u32 MARKS = 65536;
  __shared__ u32 marks[MARKS / 32];
  for (u32 i = threadIdx.x; i < MARKS / 32; i += 256) marks[i] = 0;
  __syncthreads();
  u32 marked = 0;
  const u32 stride = max(a.params.total / (256 * SAMPLES), 1u);
  for (u32 i = 0; i < SAMPLES; i++) {
    const u32 part = i * 256 + threadIdx.x;
    const u64 row = u64(part) * stride + (part * 0x9e3779b1u >> 8) % stride;
    if (row >= a.params.total) break;
    const u32 at = keyedHash(a, wordsOf(a.keys)[row]) % MARKS;
    const u32 bit = 1u << (at % 32);
    marked += (atomicOr(marks + at / 32, bit) & bit) == 0;
  }
  const u32 keys = blockPrefix(marked).total;
  if (threadIdx.x != 0) return;
  RowControl& control = controlOf(a.control);
  // null rows may have any key, which is one group
  if (a.params.keyNullable == 0 && keys > a.params.slots) storeRelaxed(&control.keysLeft, 1u);
  // each is merged
  const u32 spare = min(max(a.params.groups / (16 * keys), 1u), 1u << a.params.replicas);
  control.keyReplicas = 31 - __clz(int(spare));
}

}  // namespace warpmap::rows
