
// elect, the first step of assigning values of several words: of the elements of a key one is to write. Each leaves its
// number in the first word of the value, which is overwritten anyway, and notes the slot; the number that stays is the
// one elected. All is done in one submission (then confirm, then store), so nobody sees a number in place of a value.

fn combineElement(word: u32, element: u32) -> bool {
  atomicStore(&table[word], element);
  return true;
}

fn noteRaise(element: u32, slot: u32) { claims[element] = slot + 1u; }
