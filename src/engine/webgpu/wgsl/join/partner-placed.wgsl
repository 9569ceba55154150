// Partners at the places of keys. A fragment after ../groups/key-place.wgsl.

fn partnerAt(row: u32) -> u32 {
  let place = placeOf(row);
  if (place == EMPTY) { return EMPTY; }
  return rowsAt[place];
}
