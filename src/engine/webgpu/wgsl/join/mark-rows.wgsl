// mark-rows: notes which rows of the other side are partners. 256 invocations a workgroup, one row each.
// Races: all that write a row's word write the same. Bytes per row: 4 read, 4 written at random.

fn onElement(element: u32) {
  let partner = partners[element];
  if (partner != EMPTY) { atomicStore(&marks[partner], 0u); }
}
