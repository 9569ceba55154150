// pair: one element of 64 bits an element: a value's word, and the number above it. One element an invocation. 2 words
// read, 2 written.

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let row = invocation(workgroup, workgroups, local);
  if (row >= params.count) { return; }
  pairs[(params.first + row) * 2u] = values[params.valuesShift + row];
  pairs[(params.first + row) * 2u + 1u] = numbers[params.numbersShift + row];
}
