// place-rows: puts build rows at the places of their keys. A fragment after ../groups/key-place.wgsl and
// each-element.wgsl. 256 invocations a workgroup, one row each. Races: of rows with equal keys any one stays. Bytes per
// row: a key read, 4 written at random.

fn onElement(row: u32) {
  let place = placeOf(row);
  if (place != EMPTY) { atomicStore(&rowsAt[place], row); }
}
