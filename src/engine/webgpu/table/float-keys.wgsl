// Floats in keys as they are stored and compared: the arithmetic of engine/float-keys.ts. A fragment.

fn canonicalF32(bits: u32) -> u32 {
  if (bits == 0x80000000u) { return 0u; }
  return select(bits, 0x7fc00000u, (bits & 0x7fffffffu) > 0x7f800000u);
}

/// −0 becomes +0 and every NaN one NaN. Low word and high word.
fn canonicalF64(low: u32, high: u32) -> vec2u {
  if (low == 0u && high == 0x80000000u) { return vec2u(); }
  let magnitude = high & 0x7fffffffu;
  let isNaN = magnitude > 0x7ff00000u || (magnitude == 0x7ff00000u && low != 0u);
  return select(vec2u(low, high), vec2u(0u, 0x7ff80000u), isNaN);
}
