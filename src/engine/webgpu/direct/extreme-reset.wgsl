
// reset: where a high word has changed, the low word of the old value no longer counts: it becomes the one that every other wins
// against. After raise, in the same submission: so all that write a slot's low word write the same.
//
// Four elements an invocation, 256 invocations a workgroup.

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
    atomicStore(&table[word], select(0xffffffffu, 0u, takesGreaterLow(atomicLoad(&table[word + 1u]))));
    claims[element] = 0u;
  }
}
