// count-up: the numbers 0, 1, 2, … 256 invocations a workgroup, one word each; 4 bytes written.

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let at = invocation(workgroup, workgroups, local);
  if (at < params.count) { numbers[params.first + at] = params.first + at; }
}
