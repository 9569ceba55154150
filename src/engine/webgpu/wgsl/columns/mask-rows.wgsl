// mask-rows: sets the byte of every listed row to 1 in a mask of zeros. 256 invocations a workgroup, one listed row
// each. Races: bytes of a word are set by an atomic or. Bytes per row: 4 read, 4 changed at random.

fn onElement(element: u32) {
  let row = rows[element];
  atomicOr(&mask[row / 4u], 1u << (8u * (row % 4u)));
}
