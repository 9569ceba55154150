// Mixed keys of rows. A key of one word follows from it, one of two words from it and its upper word. A fragment after
// keyed-hash.wgsl.

fn mixedKey(row: u32) -> u32 {
  if (WIDE_KEYS) { return keyedHash(keys[2u * row] ^ keyedHash(keys[2u * row + 1u])); }
  return keyedHash(keys[row]);
}
