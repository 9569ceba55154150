// find and contains for users' own kernels. A fragment after probing (engine/webgpu/table/slot-code.ts) and read.wgsl or change.wgsl; in
// front of it come the types KeyType and ValueType, and the bindings `table` and `control`.
//
// A probe ends at the key, at EMPTY, or after maxProbe slots.
// Bytes per key at load 0.5: one sector of 32 read, and maxProbe, which all invocations share.

/// What find answers: whether the key is there, and its value; ValueType() for absent keys.
struct Result {
  found: bool,
  value: ValueType,
}

fn find(key: KeyType) -> Result {
  let bits = bitsOf(key);
  var probe = startProbe(bits, longestProbe());
  while (probe.step < probe.limit) {
    let look = lookAt(probe.slot);
    if (holds(probe.slot, stateSeen(look), probe, bits)) { return Result(true, bitcast<ValueType>(foundAt(probe.slot, look, bits))); }
    if (stateSeen(look) == EMPTY) { break; }
    probe.slot = slotAfter(probe.slot);
    probe.step++;
  }
  return Result(false, ValueType());
}

fn contains(key: KeyType) -> bool { return find(key).found; }
