// find and contains for users' own kernels. A fragment after probing and reading (engine/webgpu/table/slot-code.ts); in front of it come
// the types KeyType and ValueType, MAX_PROBE_WORD, SEED_WORD, and the bindings `table` and `control`.
//
// Reads the table; nothing may write it in the same dispatch. A probe ends at the key, at EMPTY, or after maxProbe slots.
// Bytes per key at load 0.5: one sector of 32 read, and maxProbe, which all invocations share.

/// What find answers: whether the key is there, and its value; ValueType() for absent keys.
struct Result {
  found: bool,
  value: ValueType,
}

/// Slots of the table, from the size of its binding.
fn slotCount() -> u32 { return arrayLength(&table) - SIDE_SLOTS; }

fn hashSeed() -> u32 { return control[SEED_WORD]; }

fn find(key: KeyType) -> Result {
  let bits = canonicalKey(bitcast<u32>(key));
  var probe = startProbe(bits, control[MAX_PROBE_WORD]);
  while (probe.step < probe.limit) {
    let slot = lookAt(probe.slot);
    if (holds(probe.slot, stateSeen(slot), probe, bits)) { return Result(true, bitcast<ValueType>(foundIn(slot, bits))); }
    if (stateSeen(slot) == EMPTY) { break; }
    probe.slot = slotAfter(probe.slot);
    probe.step++;
  }
  return Result(false, ValueType());
}

fn contains(key: KeyType) -> bool { return find(key).found; }
