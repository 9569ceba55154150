// Going over the elements of a dispatch: an entry point that calls onElement(element) for each. 256 invocations a
// workgroup, one element each. A fragment after rows.wgsl.

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let at = invocation(workgroup, workgroups, local);
  if (at < params.count) { onElement(params.first + at); }
}
