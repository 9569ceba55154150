
// low, the last step of min and max of 64 bits: of the values that have the slot's high word, the winning low word.

fn combineElement(word: u32, element: u32) -> bool {
  let source = params.valueShift + element * 2u;
  let high = values[source + 1u];
  if (high != atomicLoad(&table[word + 1u])) { return true; }
  if (takesGreaterLow(high)) { atomicMax(&table[word], values[source]); } else { atomicMin(&table[word], values[source]); }
  return true;
}

fn noteRaise(element: u32, slot: u32) {}
