// store: elected elements write their values. After confirm. A fragment after each-claim.wgsl.
// Owns the values of the slots that its elements have noted.

fn onClaim(element: u32, word: u32) {
  for (var i = 0u; i < VALUE_WORDS; i++) {
    atomicStore(&table[word + VALUE_OFFSET + i], values[params.valueShift + element * VALUE_WORDS + i]);
  }
  claims[element] = 0u;
}
