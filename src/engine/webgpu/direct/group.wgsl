// Probing GROUP slots a step: an invocation's loads of a step are in flight together, so a long probe waits GROUP times less
// often. (The wide form of cooperative groups: it needs no subgroup operations, and the slots of a probe are neighbours in
// memory anyway.) A fragment after batch.wgsl, for modules with a function stateAt: the state word of a slot of the binding.

const MOST_GROUP: u32 = 32u;

/// Moves a probe over slots of other keys, by less than GROUP slots and not beyond what is bound. The state word where it stands then.
fn seek(probe: ptr<function, Probe>) -> u32 {
  let first = (*probe).slot;
  let end = select(params.slots, min(params.slots, params.windowFirst + params.windowSlots), WINDOWED);
  if (GROUP == 1u || (*probe).side || first + GROUP > end) { return stateAt(boundSlot(first)); }
  var words: array<u32, MOST_GROUP>;
  for (var i = 0u; i < GROUP; i++) { words[i] = stateAt(boundSlot(first) + i); }
  for (var i = 0u; i < GROUP - 1u; i++) {
    let stops = words[i] == EMPTY || words[i] == (*probe).word || (STOPS_AT_TOMBSTONES && words[i] == TOMBSTONE)
      || (CLAIMED_BY_ROW && words[i] < ENTRY);
    if (stops) {
      (*probe).slot = first + i;
      (*probe).step += i;
      return words[i];
    }
  }
  (*probe).slot = first + GROUP - 1u;
  (*probe).step += GROUP - 1u;
  return words[GROUP - 1u];
}
