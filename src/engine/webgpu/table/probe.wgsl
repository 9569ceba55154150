// Where a key can be: its home slot, how far its probe goes, and what the state word of its slot holds. See
// engine/layout.ts. A fragment for modules with stateOf and hashOfState (slot-code.ts) and a function slotCount: that
// of kernels' parameters, or of the module for users' kernels.

const EMPTY: u32 = 0xffffffffu;
const TOMBSTONE: u32 = 0xfffffffeu;
const SIDE_PRESENT: u32 = 0u;

/// −0 becomes +0 and every NaN one NaN before anything looks at f32 keys.
fn canonicalKey(bits: u32) -> u32 {
  if (!KEY_F32) { return bits; }
  if (bits == 0x80000000u) { return 0u; }
  return select(bits, 0x7fc00000u, (bits & 0x7fffffffu) > 0x7f800000u);
}

/// A probe along one key's slots: at `slot` now, `step` slots after home, over before step `limit`.
struct Probe {
  slot: u32,
  step: u32,
  limit: u32,
  /// State word of the slot that holds the key.
  word: u32,
  /// True for a key that equals a sentinel: it has one side slot and no other.
  side: bool,
}

/// The probe over at most `reach` slots from the key's home.
fn startProbe(key: Key, reach: u32) -> Probe {
  let state = stateOf(key);
  if (!CLAIMED_BY_ROW && state >= TOMBSTONE) {
    return Probe(slotCount() + (EMPTY - state), 0u, 1u, SIDE_PRESENT, true);
  }
  return Probe(homeOfState(state), 0u, reach, state, false);
}

/// The home slot of the key of an entry with this state word.
fn homeOfState(state: u32) -> u32 { return multiplyHigh(hashOfState(state), slotCount()); }

/// The slot after `slot`; the first one follows the last.
fn slotAfter(slot: u32) -> u32 {
  return select(slot + 1u, 0u, slot + 1u == slotCount());
}
