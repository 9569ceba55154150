// The place of a row's key in an array over keys that lie close together: how far it is above the least one, modulo
// 2^32 or 2^64, so that signed and unsigned keys are the same. Rows with a null, where nulls are equal, have the place
// behind the last key's. A fragment after rows.wgsl.

fn isNullAt(row: u32) -> bool {
  return params.keyNullable == 1u && ((keyValidity[row / 32u] >> (row % 32u)) & 1u) == 0u;
}

/// EMPTY for a row that has none.
fn placeOf(row: u32) -> u32 {
  if (isNullAt(row)) { return select(EMPTY, params.places, params.nullsEqual == 1u); }
  let lower = keys[row * KEY_WORDS];
  let place = lower - params.lowest;
  var isBeyond = place >= params.places;
  if (KEY_WORDS == 2u) {
    let upper = keys[row * KEY_WORDS + 1u] - params.lowestUpper - u32(lower < params.lowest);
    isBeyond = isBeyond || upper != 0u;
  }
  return select(place, EMPTY, isBeyond);
}
