// f32 values combined, as bit patterns: the arithmetic of engine/apply.ts. A fragment of combine.ts.

/// Orders f32 bit patterns: −NaN < −infinity < … < −0 < +0 < … < +infinity < +NaN.
fn orderedBits(bits: u32) -> u32 {
  return select(bits | 0x80000000u, ~bits, (bits >> 31u) == 1u);
}

fn addF32(old: u32, value: u32) -> u32 {
  // −0 is what a fresh slot holds, and adding to it changes nothing: no rounding, no flushed subnormals
  if (old == 0x80000000u) { return value; }
  let sum = bitcast<u32>(bitcast<f32>(old) + bitcast<f32>(value));
  return select(sum, 0x7fc00000u, (sum & 0x7fffffffu) > 0x7f800000u);
}

fn minF32(old: u32, value: u32) -> u32 { return select(old, value, orderedBits(value) < orderedBits(old)); }

fn maxF32(old: u32, value: u32) -> u32 { return select(old, value, orderedBits(value) > orderedBits(old)); }
