// Claiming a slot by its key word, which holds the key at once. A fragment of change.wgsl.

/// What a slot with the state word of a key is to it: INSERTED for the invocation that has claimed it just now, or
/// EXISTING.
fn complete(slot: u32, isMine: bool, bits: Key) -> u32 { return select(EXISTING, INSERTED, isMine); }
