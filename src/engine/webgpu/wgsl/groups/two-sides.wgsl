// The rows of the table are of another side than those that probe it. A fragment before equal.wgsl.

fn buildWord(at: u32) -> u32 { return buildRecords[at]; }
fn buildByteWord(at: u32) -> u32 { return buildBytes[at]; }
