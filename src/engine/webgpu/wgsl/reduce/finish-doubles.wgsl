// finish-doubles: sums of floats as doubles, in the order of the groups. A fragment after double-sum.wgsl. 256
// invocations a workgroup, one group each. Bytes per group: 4 read, 4 × stride read at random, 8 written.

fn onElement(place: u32) {
  let sum = doubleSumOf(order[place]);
  finished[2u * place] = sum.x;
  finished[2u * place + 1u] = sum.y;
}
