// order-groups: lists the groups, and their first rows, in the order of these: a group's place is the number of marks before its own.
// 256 invocations a workgroup, one group each, which owns its place. Bytes per group: 4 read, 8 read and 8 written at random.

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let at = invocation(workgroup, workgroups, local);
  if (at >= params.count) { return; }
  let group = params.first + at;
  let row = ~states[group];
  let word = row / 32u;
  let before = marks[word] & ((1u << (row % 32u)) - 1u);
  let place = starts[word] + countOneBits(before);
  order[place] = group;
  firsts[place] = row;
}
