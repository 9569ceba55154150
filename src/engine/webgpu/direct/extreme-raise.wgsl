
// raise, the first step of min and max of 64 bits: the high words of a key's values, and of the one in its slot, come
// to the winner. An element that changes a slot's high word notes the slot. Going over an element again changes
// nothing.

/// Times that an element meets another one's change before it is left to a later dispatch.
const MEETINGS: u32 = 1024u;

var<private> raised: bool;

fn combineElement(word: u32, element: u32) -> bool {
  let next = values[params.valueShift + element * 2u + 1u];
  raised = false;
  for (var turn = 0u; turn < MEETINGS; turn++) {
    let old = atomicLoad(&table[word + 1u]);
    if (!isTaken(old, next)) { return true; }
    raised = compareExchange(word + 1u, old, next).stored;
    if (raised) { return true; }
  }
  return false;
}

fn noteRaise(element: u32, slot: u32) { if (raised) { claims[element] = slot + 1u; } }
