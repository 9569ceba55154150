// save, the first step of adding doubles: every element copies the low word of its key's value, which is overwritten
// next, and notes the slot. A fragment of apply.wgsl, after sums.wgsl.

fn combineElement(word: u32, element: u32) -> bool {
  atomicStore(&sums[element * WORDS + OLD_LOW], atomicLoad(&table[word]));
  return true;
}

fn noteRaise(element: u32, slot: u32) { claims[element] = slot + 1u; }
