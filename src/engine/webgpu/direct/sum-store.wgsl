// store: elected elements round their sums and write them. After add. A fragment after each-claim.wgsl and sums.wgsl.
// Owns the values of the slots that its elements have noted, and the elements' words, which it leaves zeroed.

fn onClaim(element: u32, word: u32) {
  let sum = sumOf(element);
  atomicStore(&table[word + VALUE_OFFSET], sum.x);
  atomicStore(&table[word + VALUE_OFFSET + 1u], sum.y);
  for (var i = TOP; i < WORDS; i++) { atomicStore(&sums[element * WORDS + i], 0u); }
  claims[element] = 0u;
}
