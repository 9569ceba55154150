// A word of a key as tables store it. A fragment after float-keys.wgsl.

fn stored(word: u32) -> u32 {
  if (!FLOAT_KEYS) { return word; }
  return canonicalF32(word);
}
