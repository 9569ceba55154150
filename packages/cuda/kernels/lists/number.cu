// Numbers of elements. Blocks of 256, an element a thread, which owns what it writes.
//
//   count_up   `base`, `base` + 1, …
//   flag_rows  1 for each selected element, as a column to scan behind a word that is left free
//   pair       a value of one word, and the element's number above it, as 64 bits
#include "lists.cuh"

namespace warpmap::lists {

WARPMAP_KERNEL(lists_count_up, lists_count_up_arguments, 256) {
  eachRow(a, [&](u32 row) { wordsOf(a.words)[row] = a.params.base + row; });
}

WARPMAP_KERNEL(lists_flag_rows, lists_flag_rows_arguments, 256) {
  eachRow(a, [&](u32 row) { wordsOf(a.words)[1 + a.params.first + row] = isSelected(a, row); });
}

WARPMAP_KERNEL(lists_pair, lists_pair_arguments, 256) {
  eachRow(a, [&](u32 row) {
    pairsOf(a.pairs)[a.params.first + row] = {wordsOf(a.values)[a.params.valuesShift + row], numberAt(a, row)};
  });
}

}  // namespace warpmap::lists
