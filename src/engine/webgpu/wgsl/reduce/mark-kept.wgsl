// mark-kept: sets the bit of a row of every group: the first, which states have as ~row, or the last (`latest`), which
// they have as row + 1; where ALONE, of groups of one row only. A state of 0 is of no group. 256 invocations a
// workgroup, one number each. Bytes per group: 4 or 8 read, 4 changed at random.

fn onElement(group: u32) {
  if (ALONE && sizes[group] != 1u) { return; }
  if (states[group] == 0u) { return; }
  let row = select(~states[group], states[group] - 1u, params.latest == 1u);
  atomicOr(&marks[row / 32u], 1u << (row % 32u));
}
