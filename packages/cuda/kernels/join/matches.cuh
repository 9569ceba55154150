// What a probe row is told of its partners: where they are, and how many.
#pragma once
#include "../rows.cuh"

namespace warpmap::rows {

/// Writes the match of each row, whose partners are found by `find` (NO_ROW: none), and adds the pairs to the total. A
/// thread has one row; all threads of the block call it.
template <class Arguments, class Find> WARPMAP_DEVICE void matchRows(const Arguments& a, const Find& find) {
  u64 size = 0;
  eachElement(a, [&](u32 row) {
    const u32 partner = find(row);
    if (partner != NO_ROW) size = wordsOf(a.sizes)[partner];
    pairsOf(a.matches)[row] = {partner, u32(size)};
  });
  addOfBlock(totalOf(controlOf(a.control)), size);
}

}  // namespace warpmap::rows
