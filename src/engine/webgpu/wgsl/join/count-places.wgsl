// count-places: counts the build rows of every place, and numbers those of one place. A fragment after
// ../groups/key-place.wgsl and each-element.wgsl. 256 invocations a workgroup, one row each. Owns its row's place and
// rank; shares the counts, by addition. Bytes per row: a key read, 4 changed at random, 8 written.

fn onElement(row: u32) {
  let place = placeOf(row);
  leaders[row] = place;
  if (place != EMPTY) { ranks[row] = atomicAdd(&sizes[place], 1u); }
}
