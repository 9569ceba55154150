// gather-small: values of one or two bytes, or of one bit, by row number; a row that is not there is 0. 256 invocations
// a workgroup, one word of the result each: VALUES_PER_WORD values. Without HAS_DATA every row that is there has the
// bit 1. Bytes per word: 4 read for each of its values, and as many at random, 4 written.

const VALUE_BITS: u32 = 32u / VALUES_PER_WORD;

fn valueOf(row: u32) -> u32 {
  if (row == EMPTY) { return 0u; }
  if (!HAS_DATA) { return 1u; }
  return extractBits(data[row / VALUES_PER_WORD], row % VALUES_PER_WORD * VALUE_BITS, VALUE_BITS);
}

fn onElement(word: u32) {
  var values = 0u;
  for (var i = 0u; i < VALUES_PER_WORD; i++) {
    let out = word * VALUES_PER_WORD + i;
    if (out < params.total) { values |= valueOf(rows[out]) << (i * VALUE_BITS); }
  }
  gathered[word] = values;
}
