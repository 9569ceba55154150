// One global atomic: every entry takes its place by an addition to one counter in memory. ITEMS is 1.

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let pair = (group.y * groups.x + group.x) * WORKGROUP + local;
  let slots = loadPair(pair);
  if (isLive(2u * pair, slots.x)) { write(atomicAdd(&total, 1u), 2u * pair, slots.x, slots.y); }
  if (isLive(2u * pair + 1u, slots.z)) { write(atomicAdd(&total, 1u), 2u * pair + 1u, slots.z, slots.w); }
}
