// A counter in workgroup memory: every entry takes its rank in the tile there, and the tile its place by one addition to the
// counter in memory. Entries go straight to memory, in the order in which they were ranked.

var<workgroup> entries: atomic<u32>;
var<workgroup> base: u32;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let first = (group.y * groups.x + group.x) * WORKGROUP * ITEMS + local;
  var slots: array<vec4u, ITEMS>;
  for (var item = 0u; item < ITEMS; item++) { slots[item] = loadPair(first + item * WORKGROUP); }
  var ranks: array<vec2u, ITEMS>;
  for (var item = 0u; item < ITEMS; item++) {
    let pair = first + item * WORKGROUP;
    ranks[item] = vec2u(EMPTY);
    if (isLive(2u * pair, slots[item].x)) { ranks[item].x = atomicAdd(&entries, 1u); }
    if (isLive(2u * pair + 1u, slots[item].z)) { ranks[item].y = atomicAdd(&entries, 1u); }
  }
  workgroupBarrier();
  if (local == 0u) { base = atomicAdd(&total, atomicLoad(&entries)); }
  workgroupBarrier();
  for (var item = 0u; item < ITEMS; item++) {
    let pair = first + item * WORKGROUP;
    let each = slots[item];
    if (ranks[item].x != EMPTY) { write(base + ranks[item].x, 2u * pair, each.x, each.y); }
    if (ranks[item].y != EMPTY) { write(base + ranks[item].y, 2u * pair + 1u, each.z, each.w); }
  }
}
