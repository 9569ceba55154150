// finish-counts: counts as 64-bit integers, in the order of the groups. 256 invocations a workgroup, one group each.
// Bytes per group: 4 read, 4 read at random, 8 written.

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let at = invocation(workgroup, workgroups, local);
  if (at >= params.count) { return; }
  let place = params.first + at;
  finished[2u * place] = states[order[place] * params.stride];
  finished[2u * place + 1u] = 0u;
}
