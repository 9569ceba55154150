// Values of a column as integers of WORDS words that are added up. A fragment after values.wgsl and whole-float.wgsl.
//
// No integer is negative: signed ones are shifted up by half of the range of WORDS words, which total.wgsl takes back.
// Floats (FLOATS) are multiples of 2^params.lowest, infinities and NaN 0.

alias Addend = array<u32, WORDS>;

/// What is read of a value: reading many together, and making addends of them one by one, takes little code.
alias Raw = array<u32, max(WORDS, 2u)>;

fn rawOf(row: u32) -> Raw {
  var raw: Raw;
  if (FLOATS) {
    let bits = floatBits(row);
    raw[0] = bits.x;
    raw[1] = bits.y;
  } else {
    for (var k = 0u; k < WORDS; k++) { raw[k] = plainWord(row, k); }
  }
  return raw;
}

fn addendOf(raw: Raw) -> Addend {
  var addend: Addend;
  if (FLOATS) {
    let value = wholeFloat(vec2u(raw[0], raw[1]));
    let shift = value.place - params.lowest;
    let first = shift / 32u;
    let by = shift % 32u;
    let low = value.low << by;
    let middle = (value.high << by) | ((value.low >> 1u) >> (31u - by));
    let high = (value.high >> 1u) >> (31u - by);
    var carry = 1u;
    for (var k = 0u; k < WORDS; k++) {
      var word = select(0u, low, k == first);
      word = select(word, middle, k == first + 1u);
      word = select(word, high, k == first + 2u);
      if (value.isNegative) {
        word = ~word + carry;
        carry &= u32(word == 0u);
      }
      addend[k] = word;
    }
  } else {
    for (var k = 0u; k < WORDS; k++) { addend[k] = raw[k]; }
  }
  if (params.form != 0u) { addend[WORDS - 1u] ^= SIGN; }
  return addend;
}
