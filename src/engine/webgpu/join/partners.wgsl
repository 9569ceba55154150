// partners: the leader of the build rows that each probe row equals, or EMPTY. 256 invocations a workgroup, one row each.
// Bytes per row at load 0.5: a record read, about 1.5 slots and a record compared, 4 written.

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let at = invocation(workgroup, workgroups, local);
  if (at >= params.count) { return; }
  let row = params.first + at;
  partners[row] = findGroup(row);
}
