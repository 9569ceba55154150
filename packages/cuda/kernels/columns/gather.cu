// Gathering columns by row numbers; a row that is not there (NO_ROW) is 0. Blocks of 256; a thread owns the words that
// it writes.
//
//   gather_words    values of whole words: 4 bytes read in order and 4 at random, 4 written, a word
//   gather_small    values of one or two bytes, or of one bit, VALUES_PER_WORD of them a word; without HAS_DATA every
//                   row that is there has the bit 1
//   string_lengths  the bytes of each string, and of all together
//   gather_bytes    the bytes of strings, a word a thread, so that long and short strings cost what their bytes cost
//   mask_rows       the byte of every listed row becomes 1
#include "../rows.cuh"

namespace warpmap::rows {

WARPMAP_KERNEL(columns_gather_words, columns_gather_words_arguments, 256) {
  const u32 width = a.params.columnWidth;
  eachElement(a, [&](u32 word) {
    const u32 row = wordsOf(a.rows)[word / width];
    wordsOf(a.gathered)[word] = row == NO_ROW ? 0 : wordsOf(a.data)[u64(row) * width + word % width];
  });
}

WARPMAP_DEVICE u32 smallValue(const columns_gather_small_arguments& a, u32 row) {
  if (row == NO_ROW) return 0;
  if (!a.HAS_DATA) return 1;
  const u32 bits = 32 / a.VALUES_PER_WORD;
  const u32 word = wordsOf(a.data)[row / a.VALUES_PER_WORD];
  return word >> (row % a.VALUES_PER_WORD * bits) & ((1u << bits) - 1);
}

/// A warp's 32 words of bits, one after the other: its lanes have a bit of the word each.
WARPMAP_DEVICE void gatherBits(const columns_gather_small_arguments& a) {
  const u64 first = threadOf() - laneOf();
  u32 mine = 0;
  for (u32 i = 0; i < LANES && first + i < a.params.count; i++) {
    const u64 out = (a.params.first + first + i) * 32 + laneOf();
    const u32 value = out < a.params.total ? smallValue(a, wordsOf(a.rows)[out]) : 0;
    const u32 word = __ballot_sync(ALL_LANES, value);
    if (laneOf() == i) mine = word;
  }
  if (first + laneOf() < a.params.count) wordsOf(a.gathered)[a.params.first + first + laneOf()] = mine;
}

WARPMAP_KERNEL(columns_gather_small, columns_gather_small_arguments, 256) {
  if (a.VALUES_PER_WORD == 32) return gatherBits(a);
  eachElement(a, [&](u32 word) {
    u32 values = 0;
    for (u32 i = 0; i < a.VALUES_PER_WORD; i++) {
      const u64 out = u64(word) * a.VALUES_PER_WORD + i;
      if (out < a.params.total) values |= smallValue(a, wordsOf(a.rows)[out]) << (i * (32 / a.VALUES_PER_WORD));
    }
    wordsOf(a.gathered)[word] = values;
  });
}

WARPMAP_KERNEL(columns_string_lengths, columns_string_lengths_arguments, 256) {
  u64 length = 0;
  eachElement(a, [&](u32 at) {
    const u32 row = wordsOf(a.rows)[at];
    if (row != NO_ROW) length = wordsOf(a.offsets)[row + 1] - wordsOf(a.offsets)[row];
    wordsOf(a.lengths)[at] = u32(length);
  });
  addOfBlock(totalOf(controlOf(a.control)), length);
}

WARPMAP_KERNEL(columns_gather_bytes, columns_gather_bytes_arguments, 256) {
  const u32* starts = wordsOf(a.outStarts);
  eachElement(a, [&](u32 word) {
    const u32 last = starts[a.params.total];
    u32 value = 0, end = 0, shift = 0;
    for (u32 i = 0; i < 4; i++) {
      const u32 position = word * 4 + i;
      if (position >= last) break;
      if (position >= end) {
        const u32 out = rowOfPiece(starts, a.params.total, position);
        end = starts[out + 1];
        shift = wordsOf(a.offsets)[wordsOf(a.rows)[out]] - starts[out];
      }
      value |= u32(a.bytes.at[shift + position]) << (i * 8);
    }
    wordsOf(a.gathered)[word] = value;
  });
}

WARPMAP_KERNEL(columns_mask_rows, columns_mask_rows_arguments, 256) {
  eachElement(a, [&](u32 element) { a.mask.at[wordsOf(a.rows)[element]] = 1; });
}

}  // namespace warpmap::rows
