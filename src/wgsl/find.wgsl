// find and contains for users' own kernels. A fragment after hash.wgsl, probe.wgsl and slot-map.wgsl or slot-set.wgsl; in
// front of it come the types Key and Value, MAX_PROBE_WORD, and the bindings `table` and `control`.
//
// Reads the table; nothing may write it in the same dispatch. A probe ends at the key, at EMPTY, or after maxProbe slots.
// Bytes per key at load 0.5: one sector of 32 read, and maxProbe, which all invocations share.

/// Slots behind the table: SIDE_SLOTS of layout.ts.
const SIDE_SLOTS: u32 = 2u;

/// What find answers: whether the key is there, and its value; Value() for absent keys.
struct Result {
  found: bool,
  value: Value,
}

/// Slots of the table, from the size of its binding.
fn slotCount() -> u32 { return arrayLength(&table) - SIDE_SLOTS; }

fn find(key: Key) -> Result {
  let bits = canonicalKey(bitcast<u32>(key));
  var probe = startProbe(bits, control[MAX_PROBE_WORD]);
  while (probe.step < probe.limit) {
    let slot = table[probe.slot];
    if (keyWord(slot) == probe.word) { return Result(true, bitcast<Value>(valueWord(slot, bits))); }
    if (keyWord(slot) == EMPTY) { break; }
    probe.slot = slotAfter(probe.slot);
    probe.step++;
  }
  return Result(false, Value());
}

fn contains(key: Key) -> bool { return find(key).found; }
