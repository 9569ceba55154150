// settle: writes keys and values into the slots that rows of the batch have claimed, and then their tags.
//
// After each insert dispatch over the same elements, in the same submission, so no other dispatch sees a row number in a state word.
// Four elements an invocation, 256 invocations a workgroup. Owns the slots that its elements have claimed.
// Bytes per element: 4 read; per claim the key and the value read, and a slot written.

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
    let word = boundSlot(claim - 1u) * SLOT_WORDS;
    let key = keyOf(element);
    for (var i = 0u; i < KEY_WORDS; i++) { atomicStore(&table[word + KEY_OFFSET + i], key[i]); }
    for (var i = 0u; i < VALUE_WORDS; i++) {
      var value = select(params.fill, params.fillHigh, i == 1u);
      if (!FILL) { value = values[params.valueShift + element * VALUE_WORDS + i]; }
      atomicStore(&table[word + VALUE_OFFSET + i], value);
    }
    atomicStore(&table[word], stateOf(key));
    claims[element] = 0u;
  }
}
