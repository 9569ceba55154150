// store: elected elements write their values. After confirm.
//
// Four elements an invocation, 256 invocations a workgroup. Owns the values of the slots that its elements have noted.

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = invocation(workgroup, workgroups, local);
  for (var item = 0u; item < ITEMS; item++) {
    let element = elementAt(thread, item);
    if (element == NO_ELEMENT) { continue; }
    let claim = claims[element];
    if (claim == 0u || !isBound(claim - 1u)) { continue; }
    let word = boundSlot(claim - 1u) * SLOT_WORDS + VALUE_OFFSET;
    for (var i = 0u; i < VALUE_WORDS; i++) {
      atomicStore(&table[word + i], values[params.valueShift + element * VALUE_WORDS + i]);
    }
    claims[element] = 0u;
  }
}
