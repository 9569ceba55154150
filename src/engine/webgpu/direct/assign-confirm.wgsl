// confirm: forgets the slots of elements that were not elected. After elect, before anybody writes a value.
//
// Four elements an invocation, 256 invocations a workgroup. Reads the table; owns its elements' notes.

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
    if (atomicLoad(&table[boundSlot(claim - 1u) * SLOT_WORDS + VALUE_OFFSET]) != element) { claims[element] = 0u; }
  }
}
