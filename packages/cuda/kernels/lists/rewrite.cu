// Changing lists in place. Blocks of 256.
//
//   head_lists       the heads of lists that lie one after another, by where each begins; a list a thread
//   compact_entries  writes the entries that were not struck to the beginnings of their lists. `struck` says from its
//                    second word on how many entries go before each; `copies` are all values as they were, so nobody
//                    reads what another thread writes. An entry a thread
//   shorten_lists    the lengths of lists after that; a list a thread, whose number no other has
//   drop_lists       empties the lists of a batch, and counts what they had; an element a thread, of equal numbers the
//                    one that takes the length writes the place
#include "lists.cuh"

namespace warpmap::lists {

WARPMAP_KERNEL(lists_head_lists, lists_head_lists_arguments, 256) {
  const u64 list = a.params.first + threadOf();
  if (list >= a.params.total) return;
  const u32 begin = wordsOf(a.offsets)[list], length = wordsOf(a.offsets)[list + 1] - begin;
  storeHead(a, u32(list), {length, length > 0 ? begin : 0});
}

WARPMAP_KERNEL(lists_compact_entries, lists_compact_entries_arguments, 256) {
  const u64 entry = a.params.first + threadOf();
  const u32* struck = wordsOf(a.struck) + 1;
  if (entry >= a.params.total || struck[entry + 1] != struck[entry]) return;
  const u32 element = wordsOf(a.queries)[entry], start = wordsOf(a.offsets)[element];
  const u32 position = u32(entry) - start - (struck[entry] - struck[start]);
  const u64 address = addressOf(a.records, wordsOf(a.places)[element], position);
  copyWords(wordsOf(a.room) + address * a.VALUE_WORDS, wordsOf(a.copies) + entry * a.VALUE_WORDS, a.VALUE_WORDS);
}

WARPMAP_KERNEL(lists_shorten_lists, lists_shorten_lists_arguments, 256) {
  const u64 row = a.params.first + threadOf();
  bool isEmptied = false;
  if (row < a.params.total) {
    const u32* struck = wordsOf(a.struck) + 1;
    const u32 number = numberAt(a, u32(row));
    const u32 begin = wordsOf(a.offsets)[row], end = wordsOf(a.offsets)[row + 1];
    const u32 length = end - begin - (struck[end] - struck[begin]);
    isEmptied = number != NO_LIST && begin < end && length == 0;
    if (number != NO_LIST && begin < end) storeHead(a, number, {length, isEmptied ? 0 : headOf(a, number).place});
  }
  addOfBlock(&countersOf(a.control).filled, u32(isEmptied));
}

WARPMAP_KERNEL(lists_drop_lists, lists_drop_lists_arguments, 256) {
  u32 entries = 0;
  eachRow(a, [&](u32 row) {
    const u32 number = numberAt(a, row);
    if (number == NO_LIST) return;
    u32* head = wordsOf(a.heads) + u64(number) * a.HEAD;
    if (loadRelaxed(head) == 0) return;
    entries = atomicExch(head, 0u);
    if (entries > 0 && a.HEAD == 2) head[1] = 0;
  });
  addOfBlock(&countersOf(a.control).entries, entries);
  addOfBlock(&countersOf(a.control).filled, u32(entries > 0));
}

}  // namespace warpmap::lists
