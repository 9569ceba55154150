// count and contains for users' own kernels, on multimaps and multisets. A fragment after look-up.wgsl, for modules
// with HEAD and the binding `heads` of engine/webgpu/lists/lists.wgsl: the table has the number of each key's list.
// Nothing is written in the same dispatch. Bytes per key at load 0.5: one sector of the table and one of the heads.

/// The number of a key's list, or NO_LIST.
fn numberOf(key: KeyType) -> u32 {
  var number: Found;
  if (!lookUp(bitsOf(key), &number)) { return NO_LIST; }
  return number;
}

/// How many entries a key has.
fn count(key: KeyType) -> u32 {
  let number = numberOf(key);
  if (number == NO_LIST) { return 0u; }
  return heads[number * HEAD];
}

fn contains(key: KeyType) -> bool { return count(key) > 0u; }

/// What find answers: whether the key has entries, and one of them; ValueType() for keys without.
struct Result {
  found: bool,
  value: ValueType,
}
