// A tile with one atomic: as workgroup-scan, but an invocation takes ranks for all its entries by one addition in workgroup
// memory. Any order will do, so no scan is needed: two barriers in place of sixteen.

var<workgroup> counter: atomic<u32>;
var<workgroup> tileEntries: u32;

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
  let rank = atomicAdd(&counter, count);
  workgroupBarrier();
  if (local == 0u) { tileEntries = atomicLoad(&counter); }
  let entries = workgroupUniformLoad(&tileEntries);
  writeStaged(first, local, rank, entries, &slots);
}
