// group-rows: writes build rows group by group, so that a group is `sizes` rows from its start on.
// 256 invocations a workgroup, one row each. Owns its row's position. Bytes per row: 12 read, 4 written.

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let row = invocation(workgroup, workgroups, local);
  if (row >= params.count) { return; }
  let place = places[row];
  if (place.x != 0xffffffffu) { grouped[groupStarts[place.x] + place.y] = row; }
}
