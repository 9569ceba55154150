// order-groups: lists the groups, and their first rows, in the order of these: a group's place is the number of marks
// before its own. 256 invocations a workgroup, one number each: a group's owns its place. Bytes per group: 4 read, 8
// read and 8 written at random.

fn onElement(group: u32) {
  if (states[group] == 0u) { return; }
  let row = ~states[group];
  let word = row / 32u;
  let before = marks[word] & ((1u << (row % 32u)) - 1u);
  let place = starts[word] + countOneBits(before);
  order[place] = group;
  firsts[place] = row;
}
