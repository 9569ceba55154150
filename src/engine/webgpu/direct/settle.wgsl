// settle: writes keys and values into the slots that rows of the batch have claimed, and then their tags. A fragment
// after each-claim.wgsl.
//
// After each insert dispatch over the same elements, in the same submission, so no other dispatch sees a row number in
// a state word. Owns the slots that its elements have claimed. Bytes per element: 4 read; per claim the key and the
// value read, and a slot written.

fn onClaim(element: u32, word: u32) {
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
