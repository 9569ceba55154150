// Erasing slots of a set. A fragment.
fn setKeyWord(at: u32, word: u32) { slots[at] = word; }
