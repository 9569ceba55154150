// Rows of parts have no words beside them. A fragment in place of part-words.wgsl.

fn buildWord(at: u32) -> u32 { return 0u; }
fn probeWord(at: u32) -> u32 { return 0u; }
