// Adding elements to lists. Blocks of 256.
//
//   init_lists       every selected element becomes the one entry of a list of its own; an element a thread
//   tally            adds the elements of a batch to the tallies of their lists, and ranks them within their list; two
//                    elements a thread. They are counted in shared memory first, so that a list costs one addition a
//                    block, however many elements it has
//   allocate_pieces  makes room for what was tallied, and makes it part of the lists' lengths; MEASURES: only sums up
//                    what that takes. An element a thread; the one with rank 0 works for its list. `added` holds the
//                    elements of the batch before, and the list's former length after
//   put_values       writes the values where there is room for them now; an element a thread, which owns its entry
//   reset_tallies    zeroes `added`; an element a thread, of each list the one with rank 0
// Bytes per element: its number and value read, 4 to 16 of its list at random, 4 to 12 written.
#include "lists.cuh"

namespace warpmap::lists {

WARPMAP_KERNEL(lists_init_lists, lists_init_lists_arguments, 256) {
  eachRow(a, [&](u32 row) {
    if (!isSelected(a, row)) return;
    const u32 number = numberAt(a, row);
    const u32 address = a.params.base + (number - a.params.firstNumber);
    storeHead(a, number, {1, address});
    copyWords(wordsOf(a.room) + u64(address) * a.VALUE_WORDS,
              wordsOf(a.values) + a.params.valuesShift + u64(row) * a.VALUE_WORDS, a.VALUE_WORDS);
  });
}

constexpr u32 TALLY_ITEMS = 2;
/// Of the table in shared memory: twice the elements of a block, a power of two.
constexpr u32 TALLY_SLOT_BITS = 10;
constexpr u32 TALLY_SLOTS = 1u << TALLY_SLOT_BITS;
static_assert(TALLY_SLOTS == 2 * 256 * TALLY_ITEMS, "a free slot for every number");

/// The slot of a number, which is claimed if it has none.
WARPMAP_DEVICE u32 slotOf(u32* slotNumbers, u32 number) {
  u32 slot = (number * 0x9e3779b1u) >> (32 - TALLY_SLOT_BITS);
  for (;;) {
    const u32 seen = atomicCAS(slotNumbers + slot, NO_LIST, number);
    if (seen == NO_LIST || seen == number) return slot;
    slot = (slot + 1) % TALLY_SLOTS;
  }
}

WARPMAP_KERNEL(lists_tally, lists_tally_arguments, 256) {
  __shared__ u32 slotNumbers[TALLY_SLOTS];
  // elements that were counted here; then those of the list that were counted before
  __shared__ u32 slotRows[TALLY_SLOTS];
  for (u32 slot = threadIdx.x; slot < TALLY_SLOTS; slot += 256) {
    slotNumbers[slot] = NO_LIST;
    slotRows[slot] = 0;
  }
  __syncthreads();
  const u64 first = u64(blockIdx.x) * 256 * TALLY_ITEMS + threadIdx.x;
  u32 slots[TALLY_ITEMS], ranks[TALLY_ITEMS];
  u32 entries = 0, filled = 0;
#pragma unroll
  for (u32 i = 0; i < TALLY_ITEMS; i++) {
    const u64 row = first + i * 256;
    const u32 number = row < a.params.count ? numberAt(a, u32(row)) : NO_LIST;
    slots[i] = TALLY_SLOTS;
    if (number == NO_LIST) continue;
    entries++;
    slots[i] = slotOf(slotNumbers, number);
    ranks[i] = atomicAdd(slotRows + slots[i], 1u);
  }
  __syncthreads();
  for (u32 slot = threadIdx.x; slot < TALLY_SLOTS; slot += 256) {
    if (slotRows[slot] == 0) continue;
    const u32 before = atomicAdd(wordsOf(a.tallies) + slotNumbers[slot], slotRows[slot]);
    slotRows[slot] = before;
    filled += before == 0;
  }
  __syncthreads();
#pragma unroll
  for (u32 i = 0; i < TALLY_ITEMS; i++) {
    if (a.RANKED && slots[i] < TALLY_SLOTS)
      wordsOf(a.ranks)[a.params.first + first + i * 256] = slotRows[slots[i]] + ranks[i];
  }
  ListControl& control = countersOf(a.control);
  addOfBlock(&control.entries, entries);
  if (a.COUNTS_LISTS) addOfBlock(&control.filled, filled);
}

WARPMAP_KERNEL(lists_allocate_pieces, lists_allocate_pieces_arguments, 256) {
  const u64 row = threadOf();
  const bool isFirst = row < a.params.count && wordsOf(a.ranks)[a.params.first + row] == 0;
  const u32 number = isFirst ? numberAt(a, u32(row)) : NO_LIST;
  const auto [length, place] = headOf(a, number);
  const bool isGrown = (place & GROWN) != 0;
  const u32 more = number == NO_LIST ? 0 : wordsOf(a.added)[number];
  const u32 end = isGrown ? pieceOf(a.records, place & ~GROWN).end : length;
  u32 room = 0, records = 0;
  if (length + more > end) {
    room = max(length + more - end, end / a.params.growth);
    records = isGrown ? 1 : length > 0 ? 2 : 0;
  }
  ListControl& control = countersOf(a.control);
  const u32 address = a.params.base + roomInBlock(&control.room, room);
  u32 record = a.params.recordBase + roomInBlock(&control.records, records);
  if (!a.MEASURES) addOfBlock(&control.filled, u32(more > 0 && length == 0));
  if (a.MEASURES || number == NO_LIST) return;
  wordsOf(a.added)[number] = length;
  u32 before = place & ~GROWN;
  if (records == 2) {
    storePiece(a.records, record, {place, 0, length, NO_LIST});
    before = record++;
  }
  if (records > 0) storePiece(a.records, record, {address, end, end + room, before});
  storeHead(a, number, {length + more, records > 0 ? GROWN | record : room > 0 ? address : place});
}

WARPMAP_KERNEL(lists_put_values, lists_put_values_arguments, 256) {
  eachRow(a, [&](u32 row) {
    const u32 number = numberAt(a, row);
    if (number == NO_LIST) return;
    const u32 position = wordsOf(a.added)[number] + wordsOf(a.ranks)[a.params.first + row];
    const u32 address = addressOf(a.records, headOf(a, number).place, position);
    copyWords(wordsOf(a.room) + u64(address) * a.VALUE_WORDS,
              wordsOf(a.values) + a.params.valuesShift + u64(row) * a.VALUE_WORDS, a.VALUE_WORDS);
  });
}

WARPMAP_KERNEL(lists_reset_tallies, lists_reset_tallies_arguments, 256) {
  eachRow(a, [&](u32 row) {
    const u32 number = numberAt(a, row);
    if (number != NO_LIST && wordsOf(a.ranks)[a.params.first + row] == 0) wordsOf(a.added)[number] = 0;
  });
}

}  // namespace warpmap::lists
