// finish-doubles: sums as doubles, rounded once, in the order of the groups. A fragment after total.wgsl and
// nearest-double.wgsl. 256 invocations a workgroup, one group each. Bytes per group: 4 read, 4 × stride read at random,
// 8 written.

const NAN: vec2u = vec2u(0u, 0x7ff80000u);

fn doubleOf(group: u32) -> vec2u {
  if (params.stride > WORDS + 2u) {
    // as whole-float.wgsl marks it: 1 and 2 of an infinity
    let marks = states[group * params.stride + WORDS + 2u];
    if (marks > 2u) { return NAN; }
    if (marks > 0u) { return vec2u(0u, INFINITY | select(0u, SIGN, marks == 2u)); }
  }
  let sum = totalOf(group);
  let isNegative = sum[WORDS] >= SIGN;
  var magnitude: Magnitude;
  var carry = 1u;
  for (var k = 0u; k <= WORDS; k++) {
    var word = sum[k];
    if (isNegative) {
      word = ~word + carry;
      carry &= u32(word == 0u);
    }
    magnitude[k] = word;
  }
  return nearest(magnitude, bitcast<i32>(params.exponent), select(0u, SIGN, isNegative));
}

fn onElement(place: u32) {
  let sum = doubleOf(order[place]);
  finished[2u * place] = sum.x;
  finished[2u * place + 1u] = sum.y;
}
