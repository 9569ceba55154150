// finish-sums: sums as integers of params.size words, in the order of the groups. A fragment after total.wgsl. Where
// they are those of decimals (params.isLimited), one with more than 38 digits, or of 8 words 76, sets
// control.sumsLeft. 256 invocations a workgroup, one group each. Bytes per group: 4 read, 4 × WORDS + 8 read at random,
// 4 × params.size written.

/// Whether a sum's magnitude has more digits than a decimal.
fn isBeyond(sum: Total, sign: u32) -> bool {
  var carry = sign & 1u;
  var isLess = false;
  // up from the lowest word: the highest that differs decides
  for (var k = 0u; k < max(WORDS + 1u, params.size); k++) {
    var word = 0u;
    if (k <= WORDS) {
      word = (sum[k] ^ sign) + carry;
      carry &= u32(word == 0u);
    }
    var limit = 0u;
    if (k < params.size) { limit = LIMITS[k + params.size - 4u]; }
    if (word != limit) { isLess = word < limit; }
  }
  return !isLess;
}

fn onElement(place: u32) {
  let sum = totalOf(order[place]);
  let sign = select(0u, EMPTY, sum[WORDS] >= 0x80000000u);
  for (var k = 0u; k < params.size; k++) {
    var word = sign;
    if (k <= WORDS) { word = sum[k]; }
    finished[place * params.size + k] = word;
  }
  if (params.isLimited == 1u && isBeyond(sum, sign)) { atomicStore(&control.sumsLeft, 1u); }
}
