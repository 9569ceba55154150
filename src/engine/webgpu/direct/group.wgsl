// Probing GROUP slots a step: an invocation's loads of a step are in flight together, so a long probe waits GROUP times less
// often. (The wide form of cooperative groups: it needs no subgroup operations, and the slots of a probe are neighbours in
// memory anyway.) A fragment after batch.wgsl, for modules with a function wordAt: the key word of a slot of the binding.

/// Slots looked at in one step: 1, 2, 4, 8, 16 or 32.
override GROUP: u32 = 1u;
/// Probes stop at tombstones too.
override STOPS_AT_TOMBSTONES: bool = false;

const MOST_GROUP: u32 = 32u;

/// Moves a probe over slots of other keys, by less than GROUP slots and not beyond what is bound. The key word where it stands then.
fn seek(probe: ptr<function, Probe>) -> u32 {
  let first = (*probe).slot;
  let end = select(params.slots, min(params.slots, params.windowFirst + params.windowSlots), WINDOWED);
  if (GROUP == 1u || (*probe).side || first + GROUP > end) { return wordAt(boundSlot(first)); }
  var words: array<u32, MOST_GROUP>;
  for (var i = 0u; i < GROUP; i++) { words[i] = wordAt(boundSlot(first) + i); }
  for (var i = 0u; i < GROUP - 1u; i++) {
    let stops = words[i] == EMPTY || words[i] == (*probe).word || (STOPS_AT_TOMBSTONES && words[i] == TOMBSTONE);
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
