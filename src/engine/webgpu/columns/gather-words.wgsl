// gather-words: values of whole words by row number; a row that is not there is 0. 256 invocations a workgroup, one word each.
// Bytes per word: 4 read in order and 4 at random, 4 written.

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let at = invocation(workgroup, workgroups, local);
  if (at >= params.count) { return; }
  let word = params.first + at;
  let row = rows[word / params.columnWidth];
  var value = 0u;
  if (row != EMPTY) { value = data[row * params.columnWidth + word % params.columnWidth]; }
  gathered[word] = value;
}
