// finish-rows: the rows that raise.wgsl has found, in the order of the groups; EMPTY for a group without one. 256 invocations a
// workgroup, one group each. Bytes per group: 4 read, 4 read at random, 4 written.

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let at = invocation(workgroup, workgroups, local);
  if (at >= params.count) { return; }
  let found = states[params.base + order[params.first + at]];
  // of no row, 0, both make EMPTY
  finished[params.first + at] = select(~found, found - 1u, params.latest == 1u);
}
