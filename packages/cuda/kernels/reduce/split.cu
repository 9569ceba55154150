// Kernels that bring items into the order of bins, tile by tile (tile.cuh); places of a bin's items are taken by
// addition to `cursors`. Blocks of WORKGROUP threads, 512 at most.
//
//   scatter_rows  keys and row numbers, with a bit for null keys, by the upper bits of mixed keys
//   sort_groups   groups by the upper bits of their places, which are their first rows' places among the marked rows,
//                 so that put_groups writes to neighbouring memory. Bins have 2^splitBits places each, and as many
//                 groups
//   split_rows    rows by the upper splitBits bits of their mixed keys, with a value or the key's upper word (VALUED);
//                 words of a column go along in place of row numbers (CARRIED)
//   split_parts   the rows of each of 2^splitBits parts by the next bits, up to partBits; `tiles` blocks a part, one
//                 part after the other, which take its tiles in turn
// Bytes per row: what an item is made of read, 8 or 12 written.
#include "groups-of-rows.cuh"
#include "mixed-keys.cuh"
#include "part-items.cuh"
#include "tile.cuh"
#include "values.cuh"

namespace warpmap::rows {

struct ScatterRows {
  using Item = uint2;
  const reduce_scatter_rows_arguments& a;

  WARPMAP_DEVICE u32 binOf(const Item& item) const { return keyedHash(a, item.x) >> (32 - a.BIN_BITS); }
  WARPMAP_DEVICE u32 takeRoom(u32 bin, u32 count) const { return atomicAdd(wordsOf(a.cursors) + bin, count); }
  WARPMAP_DEVICE void put(u32, u32 at, const Item& item) const { pairsOf(a.items)[at] = item; }
  using Loaded = RowWord;
  WARPMAP_DEVICE Loaded load(u32 row) const {
    Loaded loaded = {row, wordsOf(a.keys)[row], 0xffffffffu};
    if (a.params.keyNullable == 1) loaded.valid = wordsOf(a.keyValidity)[row / 32];
    return loaded;
  }
  WARPMAP_DEVICE Item itemOf(const Loaded& loaded) const {
    return {loaded.word, loaded.row | (~loaded.valid >> (loaded.row % 32) & 1) << 31};
  }
};

struct SortGroups {
  /// A place, the first row and the group's number.
  using Item = PartItem;
  const reduce_sort_groups_arguments& a;

  WARPMAP_DEVICE u32 binOf(const Item& item) const { return item.mixed >> a.params.splitBits; }
  WARPMAP_DEVICE u32 takeRoom(u32 bin, u32 count) const {
    return (bin << a.params.splitBits) + atomicAdd(wordsOf(a.cursors) + bin, count);
  }
  WARPMAP_DEVICE void put(u32, u32 at, const Item& item) const {
    pairsOf(a.sorted)[at] = {item.mixed, item.row};
    wordsOf(a.sortedGroups)[at] = item.word;
  }
  using Loaded = uint2;
  /// A group, and the state that has its first row.
  WARPMAP_DEVICE Loaded load(u32 group) const { return {group, wordsOf(a.states)[group]}; }
  WARPMAP_DEVICE Item itemOf(const Loaded& loaded) const {
    const u32 row = ~loaded.y;
    const u32 before = wordsOf(a.marks)[row / 32] & ((1u << (row % 32)) - 1);
    return {wordsOf(a.markStarts)[row / 32] + __popc(before), row, loaded.x};
  }
};

struct SplitRows {
  using Item = PartItem;
  const reduce_split_rows_arguments& a;
  Column column;

  WARPMAP_DEVICE u32 binOf(const Item& item) const { return item.mixed >> (32 - a.params.splitBits); }
  WARPMAP_DEVICE u32 takeRoom(u32 bin, u32 count) const {
    return startOfPart(a, bin, a.params.splitBits) + atomicAdd(wordsOf(a.cursors) + bin, count);
  }
  WARPMAP_DEVICE void put(u32, u32 at, const Item& item) const { putPartItem(a, at, item); }
  struct Loaded {
    uint2 key;
    rows::Loaded value;
  };
  WARPMAP_DEVICE Loaded load(u32 row) const { return {loadKey(a, row), column.load(row)}; }
  WARPMAP_DEVICE Item itemOf(const Loaded& loaded) const {
    const rows::Loaded& value = loaded.value;
    Item item = {mixedKey(a, loaded.key), a.CARRIED ? value.low : value.row, 0};
    if (a.WIDE_KEYS) item.word = loaded.key.y;
    else if (a.VALUED) item.word = a.CARRIED ? value.high : column.orderedWord(value, 0);
    return item;
  }
};

struct SplitParts {
  using Item = PartItem;
  using Loaded = PartItem;
  const reduce_split_parts_arguments& a;
  /// Number of the first smaller part of the block's part.
  u32 firstPart;

  WARPMAP_DEVICE u32 binOf(const Item& item) const {
    return item.mixed >> (32 - a.params.partBits) & ((1u << (a.params.partBits - a.params.splitBits)) - 1);
  }
  WARPMAP_DEVICE u32 takeRoom(u32 bin, u32 count) const {
    const u32 part = firstPart + bin;
    return startOfPart(a, part, a.params.partBits) + atomicAdd(wordsOf(a.cursors) + part, count);
  }
  WARPMAP_DEVICE void put(u32, u32 at, const Item& item) const { putPartItem(a, at, item); }
  WARPMAP_DEVICE Item itemOf(const Loaded& loaded) const { return loaded; }
};

WARPMAP_KERNEL(reduce_scatter_rows, reduce_scatter_rows_arguments, WARPMAP_TILE_BOUNDS) { splitElements(a, ScatterRows{a}); }
WARPMAP_KERNEL(reduce_sort_groups, reduce_sort_groups_arguments, WARPMAP_TILE_BOUNDS) { splitElements(a, SortGroups{a}); }
WARPMAP_KERNEL(reduce_split_rows, reduce_split_rows_arguments, WARPMAP_TILE_BOUNDS) { splitElements(a, SplitRows{a, Column(a)}); }

template <u32 ITEMS> WARPMAP_DEVICE void splitParts(const reduce_split_parts_arguments& a) {
  if (blockIdx.x >= a.params.groups * a.params.tiles) return;
  const u32 part = a.params.first + blockIdx.x / a.params.tiles;
  const SplitParts module = {a, part << (a.params.partBits - a.params.splitBits)};
  const Tile<SplitParts, ITEMS> tile(module, a.ROUNDS, a.BINS);
  const u32 size = blockDim.x * ITEMS, stride = a.params.tiles * size;
  const u32 end = startOfPart(a, part + 1, a.params.splitBits);
  u32 first = startOfPart(a, part, a.params.splitBits) + blockIdx.x % a.params.tiles * size;
  for (; first < end; first += stride) {
    tile.split(min(size, end - first), [&](u32 i) {
      const uint2 item = pairsOf(a.splitItems)[first + i];
      PartItem loaded = {item.x, item.y, 0};
      if (a.VALUED) loaded.word = wordsOf(a.splitWords)[first + i];
      return loaded;
    });
  }
}

WARPMAP_KERNEL(reduce_split_parts, reduce_split_parts_arguments, WARPMAP_TILE_BOUNDS) {
  if (a.ITEMS == TILE_ITEMS) splitParts<TILE_ITEMS>(a);
  else splitParts<EMULATED_ITEMS>(a);
}

}  // namespace warpmap::rows
