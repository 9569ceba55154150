// Lists of rows by whether they have a partner. Blocks of 256.
//
//   select_rows, select_by_place  the rows that have a partner, and their partners, or those that have none, in any
//                  order; four rows a thread, and room is taken once a block. `total` is what was counted before this
//                  list. COUNTED: where control.rowsMatched is `whole`, all rows have a partner, and none is listed
//   count_partners counts the rows that have a partner; 32 rows a thread
//   mark_rows      notes which rows of the other side are partners: their words become 0
//   count_up       0, 1, 2, …
//   flags_of_bits  a bitmap as bytes, 0 or 1 each, four a thread
#include "../rows.cuh"

namespace warpmap::rows {

constexpr u32 SELECT_ITEMS = 4;
constexpr u32 COUNT_ITEMS = 32;

template <class Arguments, class Partner> WARPMAP_DEVICE void selectRows(const Arguments& a, const Partner& partnerOf) {
  RowControl& control = controlOf(a.control);
  const bool isWhole = a.COUNTED && loadRelaxed(&control.rowsMatched) == a.params.whole;
  const u64 start = u64(blockIdx.x) * 256 * SELECT_ITEMS + threadIdx.x;
  const u64 end = isWhole ? 0 : a.params.count;
  u32 partner[SELECT_ITEMS];
  bool isListed[SELECT_ITEMS];
  u32 count = 0;
#pragma unroll
  for (u32 i = 0; i < SELECT_ITEMS; i++) {
    const u64 at = start + i * 256;
    partner[i] = at < end ? partnerOf(a.params.first + u32(at)) : NO_ROW;
    isListed[i] = at < end && (partner[i] != NO_ROW) == (a.MATCHED != 0);
    count += isListed[i];
  }
  u32 out = roomInBlock(&control.totalLow, count) - a.params.total;
#pragma unroll
  for (u32 i = 0; i < SELECT_ITEMS; i++) {
    if (!isListed[i]) continue;
    wordsOf(a.outRows)[out] = a.params.first + u32(start + i * 256);
    if (a.WITH_PARTNERS) wordsOf(a.outPartners)[out] = partner[i];
    out++;
  }
}

WARPMAP_KERNEL(join_select_rows, join_select_rows_arguments, 256) {
  selectRows(a, [&](u32 row) { return wordsOf(a.partners)[row]; });
}

WARPMAP_KERNEL(join_select_by_place, join_select_by_place_arguments, 256) {
  selectRows(a, [&](u32 row) {
    const u32 place = placeOf(a, row);
    return place == NO_ROW ? NO_ROW : wordsOf(a.rowsAt)[place];
  });
}

WARPMAP_KERNEL(join_count_partners, join_count_partners_arguments, 256) {
  const u64 start = u64(blockIdx.x) * 256 * COUNT_ITEMS + threadIdx.x;
  u32 count = 0;
#pragma unroll 8
  for (u32 i = 0; i < COUNT_ITEMS; i++) {
    const u64 at = start + i * 256;
    count += at < a.params.count && wordsOf(a.partners)[a.params.first + at] != NO_ROW;
  }
  addOfBlock(&controlOf(a.control).rowsMatched, count);
}

WARPMAP_KERNEL(join_mark_rows, join_mark_rows_arguments, 256) {
  eachElement(a, [&](u32 element) {
    const u32 partner = wordsOf(a.partners)[element];
    if (partner != NO_ROW) wordsOf(a.marks)[partner] = 0;
  });
}

WARPMAP_KERNEL(join_count_up, join_count_up_arguments, 256) {
  eachElement(a, [&](u32 element) { wordsOf(a.numbers)[element] = element; });
}

WARPMAP_KERNEL(join_flags_of_bits, join_flags_of_bits_arguments, 256) {
  eachElement(a, [&](u32 word) {
    const u32 bits = wordsOf(a.validity)[word / 8] >> (word % 8 * 4);
    wordsOf(a.flags)[word] = (bits & 1) | (bits & 2) << 7 | (bits & 4) << 14 | (bits & 8) << 21;
  });
}

}  // namespace warpmap::rows
