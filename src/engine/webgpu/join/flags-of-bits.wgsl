// flags-of-bits: a bitmap as bytes, 0 or 1 each, four to a word. 256 invocations a workgroup, one word each; 4 bytes written.

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let at = invocation(workgroup, workgroups, local);
  if (at >= params.count) { return; }
  let word = params.first + at;
  let bits = extractBits(validity[word / 8u], word % 8u * 4u, 4u);
  flags[word] = (bits & 1u) | ((bits & 2u) << 7u) | ((bits & 4u) << 14u) | ((bits & 8u) << 21u);
}
