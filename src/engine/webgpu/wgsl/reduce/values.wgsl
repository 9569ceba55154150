// Values of a column as words whose order, from the highest down, is that of the values. A fragment, for bindings
// `data` and `validity`. Signed integers are shifted up by half of their range. Of floats −0 becomes 0 and every NaN
// the greatest value.

const SIGNED: u32 = 1u;
const FLOAT: u32 = 2u;
const SIGN: u32 = 0x80000000u;

fn isNull(row: u32) -> bool {
  return params.nullable == 1u && ((validity[row / 32u] >> (row % 32u)) & 1u) == 0u;
}

/// Word k of a value as it is; a value of less than a word extended by its sign, halves moved to the upper end.
fn plainWord(row: u32, k: u32) -> u32 {
  if (params.bits >= 32u) { return data[row * params.words + k]; }
  let inWord = 32u / params.bits;
  let word = data[row / inWord];
  let at = row % inWord * params.bits;
  if (params.form == SIGNED) { return u32(extractBits(i32(word), at, params.bits)); }
  let value = extractBits(word, at, params.bits);
  return select(value, value << (32u - params.bits), params.form == FLOAT);
}

/// Word k of a float in order.
fn floatWord(row: u32, k: u32) -> u32 {
  let top = params.words - 1u;
  let high = plainWord(row, top);
  let word = plainWord(row, k);
  let magnitude = high & ~SIGN;
  var rest = 0u;
  if (top > 0u) { rest = plainWord(row, 0u); }
  if (magnitude > params.infinity || (magnitude == params.infinity && rest != 0u)) { return EMPTY; }
  let isTop = k == top;
  if ((magnitude | rest) == 0u) { return select(0u, SIGN, isTop); }
  if (high >= SIGN) { return ~word; }
  return select(word, word | SIGN, isTop);
}

/// Word k of a value in order.
fn orderedWord(row: u32, k: u32) -> u32 {
  if (params.form == FLOAT) { return floatWord(row, k); }
  let isShifted = params.form == SIGNED && k + 1u == params.words;
  return plainWord(row, k) ^ select(0u, SIGN, isShifted);
}
