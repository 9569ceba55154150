// probe: finds the slot of each string; with CLAIMS an element whose string has none claims one.
//
// An element an invocation, 256 invocations a workgroup. Owns its elements' places; shares the slots. Two words a slot:
// the state, which is EMPTY, the tag of a string, or the number of the element that has claimed it in this dispatch,
// and the number of the string. Races: any number of invocations claim at once. A state only ever changes from EMPTY to
// an element's number, and each invocation tries every empty slot of its probe in order. So two invocations with one
// string cannot pass each other: the later one meets the first one's claim, and compares the strings in the batch,
// which nobody writes. What a probe has passed holds other strings for good, so a later dispatch goes on where this one
// stopped. Records of the arena were written in earlier dispatches. Bytes per string at load 0.5: the string twice, 8
// of offsets, a sector of 32, and the record.

/// Slots that a probe looks at in one dispatch, at most.
const BUDGET: u32 = 2048u;
/// Failures of compare-exchange that one element takes in a dispatch.
const FAILURES: u32 = 256u;

/// True where the record of a slot is this string's.
fn isRecord(slot: u32, start: u32, length: u32) -> bool {
  let record = atomicLoad(&table[slot * 2u + 1u]);
  if (arena[record] != length) { return false; }
  let count = wordsFor(length);
  for (var i = 0u; i < count; i++) {
    if (arena[record + 1u + i] != wordOf(start, length, i)) { return false; }
  }
  return true;
}

/// True where another element of the batch has this string.
fn isElement(other: u32, start: u32, length: u32) -> bool {
  if (lengthOf(other) != length) { return false; }
  let first = startOf(other);
  let count = wordsFor(length);
  for (var i = 0u; i < count; i++) {
    if (wordOf(first, length, i) != wordOf(start, length, i)) { return false; }
  }
  return true;
}

/// Goes along the probe of an element from step `begin` on; answers its place.
fn probeFrom(element: u32, begin: u32, start: u32, length: u32, tag: u32) -> u32 {
  var step = begin;
  var failures = 0u;
  while (step < begin + BUDGET && step <= params.slotMask) {
    let slot = (tag + step) & params.slotMask;
    let state = atomicLoad(&table[slot * 2u]);
    if (state == EMPTY) {
      if (!CLAIMS) { return ABSENT; }
      if (compareExchange(slot * 2u, EMPTY, element).stored) { return CLAIMED | slot; }
      failures++;
      if (failures == FAILURES) { break; }
      // for no reason, or because another element took the slot, which is looked at again
      continue;
    }
    if (state == tag && isRecord(slot, start, length)) { return DONE | slot; }
    if (CLAIMS && state < ENTRY && isElement(state, start, length)) { return DONE | slot; }
    step++;
  }
  return step;
}

var<workgroup> unfinished: atomic<u32>;
var<workgroup> absent: atomic<u32>;
var<workgroup> absentWords: atomic<u32>;

fn probeElement(element: u32) {
  let before = places[element];
  if (before >= DONE) { return; }
  if (!isSelected(element)) {
    places[element] = LEFT_OUT;
    return;
  }
  let start = startOf(element);
  let length = lengthOf(element);
  let place = probeFrom(element, before, start, length, tagOf(start, length));
  places[element] = place;
  if (place < DONE) { atomicAdd(&unfinished, 1u); }
  if (place == ABSENT) {
    atomicAdd(&absent, 1u);
    atomicAdd(&absentWords, 1u + wordsFor(length));
  }
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let element = invocation(grid, local);
  if (element < params.count) { probeElement(element); }
  workgroupBarrier();
  if (local == 0u) {
    if (atomicLoad(&unfinished) > 0u) { atomicAdd(&control.unfinished, atomicLoad(&unfinished)); }
    if (atomicLoad(&absent) > 0u) {
      atomicAdd(&control.absent, atomicLoad(&absent));
      atomicAdd(&control.absentWords, atomicLoad(&absentWords));
    }
  }
}
