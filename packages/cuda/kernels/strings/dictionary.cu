// The strings of a dictionary. Blocks of 256, an element or a slot a thread.
//
//   find_strings    the slot of each string; CLAIMS: an element whose string has none claims one
//   keep_strings    copies the strings of elements that have claimed slots into the arena, and writes their tags and
//                   numbers. After each launch of find_strings with CLAIMS, so that no other meets an element's number
//   number_strings  the number of each element's string; NO_NUMBER where it has none
//   move_slots      puts all strings into the slots of an empty table: a larger one, or, with REHASH, one with another
//                   seed. Then strings are read in the arena, the binding `bytes`
//
// Races: threads claim slots at once. A slot changes once in a launch, from empty to an element's number, and each
// thread tries every empty slot of its probe in order. So of two threads with one string the later one meets the first
// one's claim, and compares the strings of the batch, which nobody writes. What a probe has passed holds other strings
// for good, so a later launch goes on from there. Bytes per string at load 0.5: the string twice, 8 of offsets, a sector
// of 32, and the record; per claim the string read twice and written.
#include "strings.cuh"

namespace warpmap::strings {

/// Slots that a probe looks at in one launch: probes that are longer are a sign of chosen keys, upon which the host
/// changes the seed (LONG_ROUNDS in engine/gpu/strings/gpu-dictionary.ts).
constexpr u32 PROBE_BUDGET = 2048;

/// The place of a string whose probe goes on from step `begin`.
WARPMAP_DEVICE u32 probeFrom(const strings_find_strings_arguments& a, u32 element, u32 begin, const String& string) {
  const u32 tag = tagOf(a, string);
  const u32 end = min(begin + PROBE_BUDGET, a.params.slotMask + 1);
  for (u32 step = begin; step < end; step++) {
    const u32 slot = (tag + step) & a.params.slotMask;
    u64* at = slotsOf(a.table) + slot;
    u64 seen = loadRelaxed(at);
    if (seen == EMPTY_SLOT) {
      if (!a.CLAIMS) return ABSENT;
      seen = compareExchange(at, EMPTY_SLOT, slotWith(element, NO_NUMBER));
      if (seen == EMPTY_SLOT) return CLAIMED | slot;
    }
    const u32 state = u32(seen);
    if (state == tag && string.equals(recordAt(a.arena, u32(seen >> 32)))) return DONE | slot;
    if (state < ENTRY && string.equals(stringAt(a, state))) return DONE | slot;
  }
  return end;
}

WARPMAP_KERNEL(strings_find_strings, strings_find_strings_arguments, 256) {
  bool isUnfinished = false, isAbsent = false;
  u32 words = 0;
  eachString(a, [&](u32 element) {
    u32& place = wordsOf(a.places)[element];
    if (place >= DONE) return;
    if (!isSelected(a, element)) {
      place = LEFT_OUT;
      return;
    }
    const String string = stringAt(a, element);
    place = probeFrom(a, element, place, string);
    isUnfinished = place < DONE;
    isAbsent = place == ABSENT;
    if (isAbsent) words = 1 + string.words();
  });
  StringControl& control = countersOf(a.control);
  addOfBlock(&control.unfinished, u32(isUnfinished));
  if (a.CLAIMS) return;
  addOfBlock(&control.absent, u32(isAbsent));
  addOfBlock(&control.absentWords, words);
}

WARPMAP_KERNEL(strings_keep_strings, strings_keep_strings_arguments, 256) {
  const u64 element = threadOf();
  const u32 place = element < a.params.count ? wordsOf(a.places)[element] : LEFT_OUT;
  String string = {};
  if (isClaim(place)) string = stringAt(a, u32(element));
  StringControl& control = countersOf(a.control);
  const u32 record = roomInBlock(&control.used, isClaim(place) ? 1 + string.words() : 0);
  addOfBlock(&control.strings, u32(isClaim(place)));
  if (!isClaim(place)) return;
  u32* to = wordsOf(a.arena) + record;
  to[0] = string.length;
  for (u32 i = 0; i < string.words(); i++) to[1 + i] = string.word(i);
  const u32 slot = place & SLOT_BITS;
  slotsOf(a.table)[slot] = slotWith(tagOf(a, string), record);
  wordsOf(a.places)[element] = DONE | slot;
}

WARPMAP_KERNEL(strings_number_strings, strings_number_strings_arguments, 256) {
  eachString(a, [&](u32 element) {
    const u32 place = wordsOf(a.places)[element];
    const bool hasString = place >= DONE && place < ABSENT;
    const u32 number = hasString ? u32(slotsOf(a.slots)[place & SLOT_BITS] >> 32) : NO_NUMBER;
    wordsOf(a.numbers)[a.params.numberShift + element] = number;
  });
}

WARPMAP_DEVICE void moveString(const strings_move_slots_arguments& a, u32 tag, u32 number) {
  u32 slot = tag & a.params.slotMask;
  for (u32 step = 0; step <= a.params.slotMask; step++) {
    if (compareExchange(slotsOf(a.table) + slot, EMPTY_SLOT, slotWith(tag, number)) == EMPTY_SLOT) return;
    slot = (slot + 1) & a.params.slotMask;
  }
  atomicAdd(&countersOf(a.control).unfinished, 1u);
}

WARPMAP_KERNEL(strings_move_slots, strings_move_slots_arguments, 256) {
  eachString(a, [&](u32 at) {
    const u64 seen = slotsOf(a.slots)[at];
    if (seen == EMPTY_SLOT) return;
    const u32 number = u32(seen >> 32);
    moveString(a, a.REHASH ? tagOf(a, recordAt(a.bytes, number)) : u32(seen), number);
  });
}

}  // namespace warpmap::strings
