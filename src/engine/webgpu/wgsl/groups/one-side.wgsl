// The rows that are compared are of one side. A fragment before equal.wgsl.

fn buildWord(at: u32) -> u32 { return records[at]; }
fn buildByteWord(at: u32) -> u32 { return bytes[at]; }
