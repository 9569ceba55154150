// The loop along a probe sequence, which all direct kernels share. A fragment after group.wgsl, for modules with
//   meet(element, probe, key, state): what becomes of an element whose key is in the slot where the probe stands
//   miss(element, probe, state): what becomes of one that comes to a slot which tells that no slot holds its key: EMPTY, a tombstone
//     with STOPS_AT_TOMBSTONES, or one with a key of a later home
// Both answer true when the element is done with, and false to look at the slot again; how often they do that is theirs to bound.
// They are called within the loop: an invocation that is done with its element need not wait for those that go on.

/// True when a probe has come to a key whose home is behind its own.
fn isBehind(probe: Probe, state: u32) -> bool {
  if (!HOME_SORTED || state >= TOMBSTONE) { return false; }
  let home = homeOfState(state);
  return probe.slot - home + select(0u, params.slots, probe.slot < home) < probe.step;
}

/// Goes along a probe, not to step `stop` or beyond, nor out of what is bound. True when the element is done with.
fn advance(probe: ptr<function, Probe>, key: Key, element: u32, stop: u32) -> bool {
  while ((*probe).step < stop && isBound((*probe).slot)) {
    let state = seek(probe);
    if (holds(boundSlot((*probe).slot), state, *probe, key)) {
      if (meet(element, *probe, key, state)) { return true; }
      continue;
    }
    let isFree = state == EMPTY || (STOPS_AT_TOMBSTONES && state == TOMBSTONE && !(*probe).side);
    if (isFree || isBehind(*probe, state)) {
      if (miss(element, *probe, state)) { return true; }
      continue;
    }
    (*probe).slot = slotAfter((*probe).slot);
    (*probe).step++;
  }
  return false;
}
