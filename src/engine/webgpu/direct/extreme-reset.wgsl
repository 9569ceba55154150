
// reset: where a high word has changed, the low word of the old value no longer counts: it becomes the one that every
// other wins against. After raise, in the same submission: so all that write a slot's low word write the same. A
// fragment after each-claim.wgsl.

fn onClaim(element: u32, word: u32) {
  let low = word + VALUE_OFFSET;
  atomicStore(&table[low], select(0xffffffffu, 0u, takesGreaterLow(atomicLoad(&table[low + 1u]))));
  claims[element] = 0u;
}
