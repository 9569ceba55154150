// list-members: writes the rows group by group. `groupOf` and `starts` go together: groups by number, or by leader.
// 256 invocations a workgroup, one row each. Owns the entry that its group's start and its rank lead to.
// Bytes per row: 8 read, 4 read and 4 written at random.

fn onElement(row: u32) {
  let group = groupOf[row];
  if (group != EMPTY) { members[starts[group] + ranks[row]] = row; }
}
