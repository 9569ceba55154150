// The insert of sets. A fragment after change.wgsl.

/// Puts a key into the table, if it is not there.
fn insert(key: KeyType) -> u32 { return claim(bitsOf(key)).outcome; }
