// mark-firsts: sets the bit of every group's first row, which states have as ~row; 0 is of no group. 256 invocations a workgroup, one number each.
// Bytes per group: 4 read, 4 changed at random.

fn onElement(element: u32) {
  if (states[element] == 0u) { return; }
  let row = ~states[element];
  atomicOr(&marks[row / 32u], 1u << (row % 32u));
}
