// finish-sums: sums of values of one word as integers of two words, of two as integers of four, in the order of the
// groups. A fragment after total.wgsl. 256 invocations a workgroup, one group each. Bytes per group: 4 read, 16 read at
// random, 8 or 16 written.

fn onElement(place: u32) {
  let sum = totalOf(order[place]);
  let size = 2u * params.words;
  finished[place * size] = sum.x;
  finished[place * size + 1u] = sum.y;
  if (size > 2u) {
    finished[place * size + 2u] = sum.z;
    finished[place * size + 3u] = select(0u, EMPTY, sum.z >= 0x80000000u);
  }
}
