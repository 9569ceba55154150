// number-groups: turns every row's leader into the number of its group, and the sizes of leaders into the counts of
// groups. 256 invocations a workgroup, one row each. Owns: its row's entry of `groupOf`, and the group's count if the
// row is its leader. Bytes per row: 4 read and written and 4 read at random; per group 4 read, 4 written at random.

fn onElement(row: u32) {
  let leader = groupOf[row];
  if (leader == EMPTY) { return; }
  let number = numbers[leader];
  groupOf[row] = number;
  if (COUNTED && leader == row) { counts[number] = sizes[row]; }
}
