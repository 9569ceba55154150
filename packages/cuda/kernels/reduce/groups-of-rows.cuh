// How kernels over rows know the group of each: by number, by a key of one word, or by lists of keys and row numbers.
//
// Groups of keys have slots of a table: a group's number is its slot, that of nulls is the number of slots. An identity
// is a mixed key, turned so that its lowest bits are its home slot: both can be undone, so different keys have
// different identities. A slot holds the upper bits of an identity, its steps from home, and 1, which with the slot's
// index make up the identity as well; or 0. Keys that are neighbours by their mixed bits have neighbouring slots.
#pragma once
#include "../rows.cuh"

namespace warpmap::rows {

/// What group a row is of.
struct RowKey {
  bool isNull;
  u32 identity;
};

/// What is read to know a row and its group: a number or a key, and whether that is null. It is read without a branch,
/// so that the loads of several rows are on their way at once.
struct RowWord {
  u32 row;
  u32 word;
  /// A bit for each row of 32.
  u32 valid;
};

/// Rows that have the number of their group, which is its identity.
template <class Arguments> struct NumberedRows {
  const Arguments& a;

  WARPMAP_DEVICE RowWord load(u32 element) const { return {element, wordsOf(a.groupOf)[element], 0xffffffffu}; }
  WARPMAP_DEVICE RowKey keyOf(const RowWord& row) const { return {false, row.word}; }
  WARPMAP_DEVICE u32 groupOf(const RowKey& key) const { return key.identity; }
};

/// Groups by keys: identities, and the table's slots.
template <class Arguments> struct KeySlots {
  const Arguments& a;

  WARPMAP_DEVICE u32 identityOf(u32 key) const {
    const u32 mixed = keyedHash(a, key);
    return __funnelshift_r(mixed, mixed, 32 - a.params.slotBits);
  }
  WARPMAP_DEVICE u32 slotAfterHome(u32 identity, u32 step) const { return (identity + step) & (a.params.slots - 1); }
  /// What a slot of a group holds; step < slots / 2.
  WARPMAP_DEVICE u32 heldBy(u32 identity, u32 step) const {
    return (((identity >> a.params.slotBits) << (a.params.slotBits - 1)) | step) + 1;
  }
  WARPMAP_DEVICE RowKey keyOf(const RowWord& row) const {
    return {(row.valid >> (row.row % 32) & 1) == 0, identityOf(row.word)};
  }
  /// The number of a group that has a slot, in a table that nothing writes.
  WARPMAP_DEVICE u32 groupOf(const RowKey& key) const {
    if (key.isNull) return a.params.slots;
    const u32* table = wordsOf(a.table);
    for (u32 step = 0; step < a.params.steps; step++) {
      const u32 slot = slotAfterHome(key.identity, step);
      if (table[slot] == heldBy(key.identity, step)) return slot;
    }
    // every group has a slot
    return a.params.slots;
  }
};

/// Rows by a column of keys of one word.
template <class Arguments> struct KeyedRows : KeySlots<Arguments> {
  using KeySlots<Arguments>::a;
  WARPMAP_DEVICE explicit KeyedRows(const Arguments& a) : KeySlots<Arguments>{a} {}

  WARPMAP_DEVICE RowWord load(u32 element) const {
    RowWord row = {element, wordsOf(a.keys)[element], 0xffffffffu};
    if (a.params.keyNullable == 1) row.valid = wordsOf(a.keyValidity)[element / 32];
    return row;
  }
};

/// Rows by lists of a key and a row number each, whose highest bit tells that the key is null: in the order of the
/// slots of their groups, but for some disorder.
template <class Arguments> struct ListedRows : KeySlots<Arguments> {
  using KeySlots<Arguments>::a;
  WARPMAP_DEVICE explicit ListedRows(const Arguments& a) : KeySlots<Arguments>{a} {}

  WARPMAP_DEVICE RowWord load(u32 element) const {
    const uint2 item = pairsOf(a.items)[element];
    return {item.y & 0x7fffffffu, item.x, item.y >> 31 == 1 ? 0 : 0xffffffffu};
  }
};

}  // namespace warpmap::rows
