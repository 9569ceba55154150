// count up: `base`, `base` + 1, … One element an invocation. Owns its word. 1 word written.

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let row = invocation(workgroup, workgroups, local);
  if (row < params.count) { words[row] = params.base + row; }
}
