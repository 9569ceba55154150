// Mixed keys of rows. A key of one word follows from it, one of two words from it and its upper word. A fragment after ../table/hash.wgsl.

fn mixedKey(row: u32) -> u32 {
  if (WIDE_KEYS) { return murmur3(keys[2u * row] ^ murmur3(keys[2u * row + 1u])); }
  return murmur3(keys[row]);
}
