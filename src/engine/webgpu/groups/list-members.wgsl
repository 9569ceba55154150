// list-members: writes the rows group by group. `groupOf` and `starts` go together: groups by number, or by leader.
// 256 invocations a workgroup, one row each. Owns the entry that its group's start and its rank lead to.
// Bytes per row: 8 read, 4 read and 4 written at random.

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let at = invocation(workgroup, workgroups, local);
  if (at >= params.count) { return; }
  let row = params.first + at;
  let group = groupOf[row];
  if (group != EMPTY) { members[starts[group] + ranks[row]] = row; }
}
