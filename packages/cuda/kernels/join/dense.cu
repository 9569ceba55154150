// Joins whose keys lie close together: an array over the keys, of places. Blocks of 256, a row a thread.
//
//   place_rows      puts build rows at the places of their keys; of rows with equal keys any one stays
//   count_placed    how many places have a row: fewer than rows were placed means that some are equal. The places are
//                   filled up to a multiple of four; four times four of them a thread
//   dense_partners  the build row at the place of each probe row's key, or NO_ROW
//   count_places    counts the build rows of every place, and numbers those of one place
//   dense_matches   the place of every probe row's key and how many build rows it has, and the sum of these
// Bytes per row: a key read, 4 at random, 4 or 8 written.
#include "matches.cuh"

namespace warpmap::rows {

WARPMAP_KERNEL(join_place_rows, join_place_rows_arguments, 256) {
  eachElement(a, [&](u32 row) {
    const u32 place = placeOf(a, row);
    if (place != NO_ROW) wordsOf(a.rowsAt)[place] = row;
  });
}

WARPMAP_KERNEL(join_count_placed, join_count_placed_arguments, 256) {
  constexpr u32 ITEMS = 4;
  const u64 start = u64(blockIdx.x) * 256 * ITEMS + threadIdx.x;
  u32 count = 0;
#pragma unroll
  for (u32 i = 0; i < ITEMS; i++) {
    const u64 at = start + i * 256;
    if (at >= a.params.count) break;
    const uint4 rows = ((const uint4*)a.rowsAt.at)[at];
    count += (rows.x != NO_ROW) + (rows.y != NO_ROW) + (rows.z != NO_ROW) + (rows.w != NO_ROW);
  }
  addOfBlock(&controlOf(a.control).keysPlaced, count);
}

WARPMAP_KERNEL(join_dense_partners, join_dense_partners_arguments, 256) {
  eachElement(a, [&](u32 row) {
    const u32 place = placeOf(a, row);
    wordsOf(a.partners)[row] = place == NO_ROW ? NO_ROW : wordsOf(a.rowsAt)[place];
  });
}

WARPMAP_KERNEL(join_count_places, join_count_places_arguments, 256) {
  eachElement(a, [&](u32 row) {
    const u32 place = placeOf(a, row);
    wordsOf(a.leaders)[row] = place;
    if (place != NO_ROW) wordsOf(a.ranks)[row] = atomicAdd(wordsOf(a.sizes) + place, 1u);
  });
}

WARPMAP_KERNEL(join_dense_matches, join_dense_matches_arguments, 256) {
  matchRows(a, [&](u32 row) { return placeOf(a, row); });
}

}  // namespace warpmap::rows
