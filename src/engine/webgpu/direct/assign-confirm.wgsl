// confirm: forgets the slots of elements that were not elected. After elect, before anybody writes a value. A fragment
// after each-claim.wgsl. Reads the table; owns its elements' notes.

fn onClaim(element: u32, word: u32) {
  if (atomicLoad(&table[word + VALUE_OFFSET]) != element) { claims[element] = 0u; }
}
