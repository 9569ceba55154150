// Looking a key up for users' own kernels. A fragment after probing (engine/webgpu/table/slot-code.ts) and read.wgsl or
// change.wgsl; in front of it come the type KeyType, and the bindings `table` and `control`.
//
// A probe ends at the key, at EMPTY, or after maxProbe slots.
// Bytes per key at load 0.5: one sector of 32 read, and maxProbe, which all invocations share.

/// Whether a key is there; `found` becomes what its slot holds then.
fn lookUp(bits: Key, found: ptr<function, Found>) -> bool {
  var probe = startProbe(bits, longestProbe());
  while (probe.step < probe.limit) {
    let look = lookAt(probe.slot);
    if (holds(probe.slot, stateSeen(look), probe, bits)) {
      *found = foundAt(probe.slot, look, bits);
      return true;
    }
    if (stateSeen(look) == EMPTY) { break; }
    probe.slot = slotAfter(probe.slot);
    probe.step++;
  }
  return false;
}
