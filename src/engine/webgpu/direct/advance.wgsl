// The loop along a probe sequence, which all direct kernels share. A fragment after group.wgsl.

/// The slot holds the key.
const HOLDS: u32 = 0u;
/// The slot is free: EMPTY, or with STOPS_AT_TOMBSTONES a tombstone.
const FREE: u32 = 1u;
/// A key with a later home is there.
const BEHIND: u32 = 2u;
/// The probe came to `stop`, or leaves what is bound.
const STOPPED: u32 = 3u;

/// Why a probe stands where it is, and the state word there.
struct Stand {
  why: u32,
  state: u32,
}

/// True when a probe has come to a key whose home is behind its own.
fn isBehind(probe: Probe, state: u32) -> bool {
  if (!HOME_SORTED || state >= TOMBSTONE) { return false; }
  let home = homeOfState(state);
  return probe.slot - home + select(0u, params.slots, probe.slot < home) < probe.step;
}

/// Goes along a probe to the slot that holds the key, or to one that tells that no slot does; not to step `stop` or beyond.
fn advance(probe: ptr<function, Probe>, key: Key, stop: u32) -> Stand {
  while ((*probe).step < stop && isBound((*probe).slot)) {
    let state = seek(probe);
    if (holds(boundSlot((*probe).slot), state, *probe, key)) { return Stand(HOLDS, state); }
    if (state == EMPTY || (STOPS_AT_TOMBSTONES && state == TOMBSTONE && !(*probe).side)) { return Stand(FREE, state); }
    if (isBehind(*probe, state)) { return Stand(BEHIND, state); }
    (*probe).slot = slotAfter((*probe).slot);
    (*probe).step++;
  }
  return Stand(STOPPED, 0u);
}
