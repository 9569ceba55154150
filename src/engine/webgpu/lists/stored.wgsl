// A word of a key as tables store it: f32 keys equal as in JavaScript's Map have the same bits.

fn stored(word: u32) -> u32 {
  if (!FLOAT_KEYS) { return word; }
  if (word == 0x80000000u) { return 0u; }
  return select(word, 0x7fc00000u, (word & 0x7fffffffu) > 0x7f800000u);
}
