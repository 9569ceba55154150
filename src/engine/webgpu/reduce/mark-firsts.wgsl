// mark-firsts: sets the bit of every group's first row, which states have as ~row. 256 invocations a workgroup, one group each.
// Bytes per group: 4 read, 4 changed at random.

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let at = invocation(workgroup, workgroups, local);
  if (at >= params.count) { return; }
  let row = ~states[params.first + at];
  atomicOr(&marks[row / 32u], 1u << (row % 32u));
}
