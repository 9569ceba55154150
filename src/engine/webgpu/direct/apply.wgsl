// apply: combines every element's value with the value of its key, which an earlier dispatch has inserted, by
// combineElement(word, element). After that noteRaise(element, slot) may note the slot for a kernel that follows.
//
// Four pairs an invocation, 256 invocations a workgroup. Shares the table's values; key words do not change.
// Races: with other applies of the same operation, all atomic on the value word, so the order does not matter, except
// for the rounding of f32 add. Elements whose key is not there (it found no slot) are passed over.
// A probe that is left to a later dispatch has applied nothing yet, and has passed no slot with its key: each value is
// applied once. The worklist has room for all where an element cannot do without it: with f32 values, which may meet
// too many others, and with several windows. Else a long probe goes on in place when the worklist is full. Bytes per
// pair at load 0.5: 8 read (the key once per window), one sector of 32 read and written back.

/// Combines an element's value with the one at a word of the table, unless it meets too many others.
fn applyAt(word: u32, element: u32, step: u32) {
  if (!combineElement(word, element)) { _ = leaveUnfinished(element, step); }
}

fn meet(element: u32, at: u32, step: u32, side: bool, key: Key) -> u32 {
  applyAt(at * SLOT_WORDS + VALUE_OFFSET, element, step);
  noteRaise(element, at + params.windowFirst);
  return HELD;
}

fn miss(element: u32, probe: Probe, state: u32) -> u32 { return MISSED; }

fn applyElement(element: u32, key: Key, start: Probe) {
  var probe = start;
  let done = advance(&probe, key, element, min(probe.limit, params.stepBudget));
  if (done != AGAIN || probe.step >= probe.limit) { return; }
  if (leaveUnfinished(element, probe.step) || !isBound(probe.slot)) { return; }
  // the worklist is full
  _ = advance(&probe, key, element, probe.limit);
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let thread = invocation(grid, local);
  for (var item = 0u; item < ITEMS; item++) {
    let element = elementAt(thread, item);
    if (element == NO_ELEMENT) { continue; }
    let key = keyOf(element);
    let probe = probeAt(thread, item, key, params.maxProbe);
    if (isBound(probe.slot)) { applyElement(element, key, probe); }
  }
}
