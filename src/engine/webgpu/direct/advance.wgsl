// The loop along a probe sequence, which all direct kernels share. A fragment after group.wgsl or plain-reach.wgsl, for
// modules with
// meet(element, at, step, side, key): what becomes of an element whose key is in slot `at` of the binding, `step` slots
// from home
// miss(element, probe, state): what becomes of one that comes to a slot which tells that no slot holds its key: EMPTY,
// a tombstone
//     with STOPS_AT_TOMBSTONES, or one with a key of a later home
// Both answer HELD or MISSED when the element is done with, and AGAIN to look at the slot again; how often they do that
// is theirs to bound. They are called within the loop: an invocation that is done with its element need not wait for
// those that go on.

/// What has become of an element: it is not done with; its key is in the table; it is not, or was not.
const AGAIN: u32 = 0u;
const HELD: u32 = 1u;
const MISSED: u32 = 2u;

/// Goes along a probe, not to step `stop` or beyond, nor out of what is bound. AGAIN when the element is not done with
/// then.
fn advance(probe: ptr<function, Probe>, key: Key, element: u32, stop: u32) -> u32 {
  while ((*probe).step < stop && isBound((*probe).slot)) {
    let state = seek(probe);
    if (holds(boundSlot((*probe).slot), state, *probe, key)) {
      let done = meet(element, boundSlot((*probe).slot), (*probe).step, (*probe).side, key);
      if (done != AGAIN) { return done; }
      continue;
    }
    if (state == EMPTY || (STOPS_AT_TOMBSTONES && state == TOMBSTONE && !(*probe).side)) {
      let done = miss(element, *probe, state);
      if (done != AGAIN) { return done; }
      continue;
    }
    if (isBehind(*probe, state)) {
      let done = miss(element, *probe, state);
      if (done != AGAIN) { return done; }
      continue;
    }
    (*probe).slot = slotAfter((*probe).slot);
    (*probe).step++;
  }
  return AGAIN;
}
