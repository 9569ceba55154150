// Erasing slots of a map. A fragment.
fn setKeyWord(at: u32, word: u32) { slots[at].x = word; }
