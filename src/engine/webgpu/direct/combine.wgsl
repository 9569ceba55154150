// The operations of insertOrApply. A fragment.

/// 0 assign, 1 add, 2 min, 3 max, 4 and, 5 or, 6 xor: positions in combine.ts.
override OP: u32 = 0u;
/// Values are f32; min and max then order by bits as orderedBits says.
override VALUE_F32: bool = false;

/// Orders f32 bit patterns: −NaN < −infinity < … < −0 < +0 < … < +infinity < +NaN.
fn orderedBits(bits: u32) -> u32 {
  return select(bits | 0x80000000u, ~bits, (bits >> 31u) == 1u);
}

fn combineF32(old: u32, value: u32) -> u32 {
  if (OP == 1u) {
    // −0 is what a fresh slot holds, and adding to it changes nothing: no rounding, no flushed subnormals
    if (old == 0x80000000u) { return value; }
    let sum = bitcast<u32>(bitcast<f32>(old) + bitcast<f32>(value));
    return select(sum, 0x7fc00000u, (sum & 0x7fffffffu) > 0x7f800000u);
  }
  let less = orderedBits(value) < orderedBits(old);
  return select(old, value, less == (OP == 2u));
}
