// mark-rows: notes which rows of the other side are partners. 256 invocations a workgroup, one row each.
// Races: all that write a row's word write the same. Bytes per row: 4 read, 4 written at random.

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let at = invocation(workgroup, workgroups, local);
  if (at >= params.count) { return; }
  let partner = partners[params.first + at];
  if (partner != EMPTY) { atomicStore(&marks[partner], 0u); }
}
