// The words beside the rows of parts: upper words of keys, or second words of what goes along. A fragment.

fn buildWord(at: u32) -> u32 { return buildWords[at]; }
fn probeWord(at: u32) -> u32 { return words[at]; }
