// Reading lists, which nothing writes meanwhile. Blocks of 256; a thread owns the results that it writes.
//
//   look_up_lists  the length of each element's list, whether it has any entries, or its first entry; four neighbouring
//                  elements a thread, whose four flags are one word. Of lists without values the first entry is the key
//   locate_lists   the length of each element's list, as a column to scan, and its place; sums the lengths up
//   expand_lists   the entries of located lists, however unevenly they fall on the elements
// Bytes per element: 4 read, 4 to 8 of its list at random, and its results written; per entry a value read and written.
#include "lists.cuh"

namespace warpmap::lists {

WARPMAP_KERNEL(lists_look_up_lists, lists_look_up_lists_arguments, 256) {
  const u64 first = threadOf() * 4;
  if (first >= a.params.count) return;
  const u32 rows = u32(min(u64(a.params.count) - first, u64(4)));
  u32 flags = 0;
  for (u32 i = 0; i < rows; i++) {
    const u32 row = u32(first) + i;
    const auto [length, place] = headOf(a, numberAt(a, row));
    const bool isThere = length > 0;
    flags |= u32(isThere) << (i * 8);
    if (a.SIZED) wordsOf(a.out)[a.params.outShift + row] = length;
    if (!a.VALUED) continue;
    const u64 address = isThere && a.HEAD == 2 ? addressOf(a.records, place, 0) : 0;
    for (u32 word = 0; word < a.OUT_WORDS; word++) {
      const u64 at = u64(row) * a.OUT_WORDS + word;
      u32 value = missingWord(a, word);
      if (isThere && a.HEAD == 2) value = wordsOf(a.room)[address * a.OUT_WORDS + word];
      if (isThere && a.HEAD == 1) value = storedWord(a, wordsOf(a.keys)[a.params.keysShift + at]);
      wordsOf(a.out)[a.params.outShift + at] = value;
    }
  }
  if (a.FLAGGED) wordsOf(a.flags)[a.params.flagsShift + first / 4] = flags;
}

WARPMAP_KERNEL(lists_locate_lists, lists_locate_lists_arguments, 256) {
  u64 entries = 0;
  eachRow(a, [&](u32 row) {
    Head list = headOf(a, numberAt(a, row));
    if (a.OUTER && list.length == 0 && isSelected(a, row)) list = {1, MISSING};
    wordsOf(a.offsets)[a.params.first + row] = list.length;
    wordsOf(a.places)[a.params.first + row] = list.place;
    entries = list.length;
  });
  addOfBlock((u64*)&countersOf(a.control).totalLow, entries);
}

/// Neighbouring entries of a block.
constexpr u32 EXPAND_TILE = 1024;
/// Offsets that a block has in shared memory.
constexpr u32 KEPT_OFFSETS = 2048;

WARPMAP_DEVICE void writeEntry(const lists_expand_lists_arguments& a, u32 at, u32 element) {
  if (a.QUERIES) wordsOf(a.outQueries)[a.params.flagsShift + at] = element;
  const u32 place = wordsOf(a.places)[element];
  const bool isThere = place != MISSING;
  for (u32 word = 0; word < a.KEY_WORDS; word++) {
    const u64 from = a.params.keysShift + u64(element) * a.KEY_WORDS + word;
    wordsOf(a.outKeys)[a.params.keysOutShift + u64(at) * a.KEY_WORDS + word] =
        isThere ? storedWord(a, wordsOf(a.keys)[from]) : missingWord(a, word);
  }
  if (a.VALUE_WORDS == 0) return;
  const u64 address = isThere ? addressOf(a.records, place, a.params.first + at - wordsOf(a.offsets)[element]) : 0;
  for (u32 word = 0; word < a.VALUE_WORDS; word++) {
    wordsOf(a.outValues)[a.params.outShift + u64(at) * a.VALUE_WORDS + word] =
        isThere ? wordsOf(a.room)[address * a.VALUE_WORDS + word] : missingWord(a, word);
  }
}

// The elements of the block's first and last entry are searched for among all offsets, those of its other entries
// between them: in shared memory, unless the elements between are many, most of them without entries.
WARPMAP_KERNEL(lists_expand_lists, lists_expand_lists_arguments, 256) {
  __shared__ u32 ends[2];
  __shared__ u32 kept[KEPT_OFFSETS];
  const u32* offsets = wordsOf(a.offsets);
  const u64 tile = u64(blockIdx.x) * EXPAND_TILE;
  const u64 tileEnd = min(tile + EXPAND_TILE, u64(a.params.count));
  if (threadIdx.x < 2) {
    const u64 at = threadIdx.x == 0 ? tile : tileEnd - 1;
    ends[threadIdx.x] = rowOfPiece(offsets, a.params.total, a.params.first + u32(at));
  }
  __syncthreads();
  const u32 low = ends[0], count = ends[1] - low + 1;
  const bool isKept = count <= KEPT_OFFSETS;
  if (isKept) {
    for (u32 i = threadIdx.x; i < count; i += 256) kept[i] = offsets[low + i];
  }
  __syncthreads();
  for (u64 at = tile + threadIdx.x; at < tileEnd; at += 256) {
    const u32 entry = a.params.first + u32(at);
    writeEntry(a, u32(at), low + rowOfPiece(isKept ? kept : offsets + low, count, entry));
  }
}

}  // namespace warpmap::lists
