// Probing GROUP slots a step: an invocation's loads of a step are in flight together, so a long probe waits GROUP times
// less often. (The wide form of cooperative groups: it needs no subgroup operations, and the slots of a probe are
// neighbours in memory anyway.) A fragment after batch.wgsl, for modules with lookAt (what a probe sees of a slot of
// the binding) and stateSeen (the state word in that): slot-code.ts.

const MOST_GROUP: u32 = 32u;

/// With a GROUP of 1, the slot where the last seek ended, as far as a probe sees it: the value is there with the state
/// word.
var<private> seen: Look;

/// Moves a probe over slots of other keys, by less than GROUP slots and not beyond what is bound. The state word where
/// it stands then.
fn seek(probe: ptr<function, Probe>) -> u32 {
  let first = (*probe).slot;
  let end = select(params.slots, min(params.slots, params.windowFirst + params.windowSlots), WINDOWED);
  if (GROUP == 1u || (*probe).side || first + GROUP > end) {
    seen = lookAt(boundSlot(first));
    return stateSeen(seen);
  }
  var states: array<u32, MOST_GROUP>;
  for (var i = 0u; i < GROUP; i++) { states[i] = stateSeen(lookAt(boundSlot(first) + i)); }
  for (var i = 0u; i < GROUP - 1u; i++) {
    let state = states[i];
    let stops = state == EMPTY || state == (*probe).word || (STOPS_AT_TOMBSTONES && state == TOMBSTONE)
      || (CLAIMED_BY_ROW && state < ENTRY);
    if (stops) {
      (*probe).slot = first + i;
      (*probe).step += i;
      return state;
    }
  }
  (*probe).slot = first + GROUP - 1u;
  (*probe).step += GROUP - 1u;
  return states[GROUP - 1u];
}

/// True when a probe has come to a key whose home is behind its own.
fn isBehind(probe: Probe, state: u32) -> bool {
  if (!HOME_SORTED || state >= TOMBSTONE) { return false; }
  let home = homeOfState(state);
  return probe.slot - home + select(0u, params.slots, probe.slot < home) < probe.step;
}
