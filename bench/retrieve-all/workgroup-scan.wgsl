// A scan over the workgroup: invocations count their entries, a scan in workgroup
// memory ranks them, and one addition to the counter in memory places the tile. Written out through workgroup memory.

var<workgroup> sums: array<u32, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let first = (group.y * groups.x + group.x) * WORKGROUP * ITEMS + local;
  var slots: array<vec4u, ITEMS>;
  for (var item = 0u; item < ITEMS; item++) { slots[item] = loadPair(first + item * WORKGROUP); }
  var count = 0u;
  for (var item = 0u; item < ITEMS; item++) { count += liveOf(first + item * WORKGROUP, slots[item]); }
  sums[local] = count;
  workgroupBarrier();
  for (var step = 1u; step < WORKGROUP; step *= 2u) {
    let before = select(0u, sums[max(local, step) - step], local >= step);
    workgroupBarrier();
    sums[local] += before;
    workgroupBarrier();
  }
  let entries = workgroupUniformLoad(&sums[WORKGROUP - 1u]);
  writeStaged(first, local, sums[local] - count, entries, &slots);
}
