// count-marks: the set bits of every word, as a column to scan. 256 invocations a workgroup, one word each.
// Bytes per word: 4 read, 4 written.

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let at = invocation(workgroup, workgroups, local);
  if (at < params.count) { starts[params.first + at] = countOneBits(marks[params.first + at]); }
}
