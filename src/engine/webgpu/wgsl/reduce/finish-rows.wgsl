// finish-rows: the rows that raise.wgsl has found, in the order of the groups; EMPTY for a group without one. 256
// invocations a workgroup, one group each. Bytes per group: 4 read, 4 read at random, 4 written.

fn onElement(element: u32) {
  let found = states[params.base + order[element]];
  // of no row, 0, both make EMPTY
  finished[element] = select(~found, found - 1u, params.latest == 1u);
}
