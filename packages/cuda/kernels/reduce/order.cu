// Groups in the order of their first rows: a bit for each row that stands for a group, and prefix sums of the bits.
// Blocks of 256, a group or a word of bits a thread.
//
//   mark_kept    sets the bit of a row of every group: the first, which states have as ~row, or the last (`latest`),
//                which they have as row + 1; where ALONE, of groups of one row only. A state of 0 is of no group
//   count_marks  the set bits of every word, as a column to scan
//   list_marked  the numbers of rows that have a bit, ascending
//   order_groups the groups, and their first rows, in the order of these: a group's place is the number of marks before
//                its own
//   put_groups   the same of groups that sort_groups has brought near to their places
#include "../rows.cuh"

namespace warpmap::rows {

WARPMAP_KERNEL(reduce_mark_kept, reduce_mark_kept_arguments, 256) {
  eachElement(a, [&](u32 group) {
    const u32 state = wordsOf(a.states)[group];
    if (state == 0 || (a.ALONE && wordsOf(a.sizes)[group] != 1)) return;
    const u32 row = a.params.latest == 1 ? state - 1 : ~state;
    atomicOr(wordsOf(a.marks) + row / 32, 1u << (row % 32));
  });
}

WARPMAP_KERNEL(reduce_count_marks, reduce_count_marks_arguments, 256) {
  eachElement(a, [&](u32 word) { wordsOf(a.starts)[word] = __popc(wordsOf(a.marks)[word]); });
}

WARPMAP_KERNEL(reduce_list_marked, reduce_list_marked_arguments, 256) {
  eachElement(a, [&](u32 word) {
    u32* to = wordsOf(a.listed) + wordsOf(a.starts)[word];
    for (u32 bits = wordsOf(a.marks)[word]; bits != 0; bits &= bits - 1) *to++ = word * 32 + __ffs(int(bits)) - 1;
  });
}

WARPMAP_KERNEL(reduce_order_groups, reduce_order_groups_arguments, 256) {
  eachElement(a, [&](u32 group) {
    if (wordsOf(a.states)[group] == 0) return;
    const u32 row = ~wordsOf(a.states)[group];
    const u32 before = wordsOf(a.marks)[row / 32] & ((1u << (row % 32)) - 1);
    const u32 place = wordsOf(a.starts)[row / 32] + __popc(before);
    wordsOf(a.order)[place] = group;
    wordsOf(a.firsts)[place] = row;
  });
}

WARPMAP_KERNEL(reduce_put_groups, reduce_put_groups_arguments, 256) {
  eachElement(a, [&](u32 at) {
    const uint2 item = pairsOf(a.sorted)[at];
    wordsOf(a.order)[item.x] = wordsOf(a.sortedGroups)[at];
    wordsOf(a.firsts)[item.x] = item.y;
  });
}

}  // namespace warpmap::rows
