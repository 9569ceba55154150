// mark-firsts: sets the bit of every group's first row, which states have as ~row. 256 invocations a workgroup, one group each.
// Bytes per group: 4 read, 4 changed at random.

fn onElement(element: u32) {
  let row = ~states[element];
  atomicOr(&marks[row / 32u], 1u << (row % 32u));
}
