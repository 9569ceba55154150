// Where a key can be: its home slot, how far its probe goes, and what the key word of its slot holds. See engine/layout.ts.
// A fragment after hash.wgsl, for modules with a function slotCount: params.wgsl's, or that of the module for users' kernels.

const EMPTY: u32 = 0xffffffffu;
const TOMBSTONE: u32 = 0xfffffffeu;
const SIDE_PRESENT: u32 = 0u;

/// 32-bit words of a slot: 1 for sets, 2 for maps.
override SLOT_WORDS: u32 = 2u;
/// True when keys are f32: −0 becomes +0 and every NaN one NaN before anything looks at them.
override KEY_F32: bool = false;

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
  /// Key word of the slot that holds the key.
  word: u32,
  /// True for a key that equals a sentinel: it has one side slot and no other.
  side: bool,
}

/// The probe over at most `reach` slots from the key's home.
fn startProbe(key: u32, reach: u32) -> Probe {
  if (key >= TOMBSTONE) {
    return Probe(slotCount() + (EMPTY - key), 0u, 1u, SIDE_PRESENT, true);
  }
  return Probe(multiplyHigh(hashKey(key), slotCount()), 0u, reach, key, false);
}

/// The slot after `slot`; the first one follows the last.
fn slotAfter(slot: u32) -> u32 {
  return select(slot + 1u, 0u, slot + 1u == slotCount());
}
