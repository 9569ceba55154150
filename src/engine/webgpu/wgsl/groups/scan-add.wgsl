// scan-add: adds each tile's scanned sum to its 2,048 words. 256 invocations a workgroup, eight words each.
// Bytes per word: 4 read, 4 written.

const ITEMS: u32 = 8u;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let tile = workgroup.y * workgroups.x + workgroup.x;
  let first = tile * WORKGROUP * ITEMS + local;
  for (var i = 0u; i < ITEMS; i++) {
    let at = first + i * WORKGROUP;
    if (at < params.total) { words[at] += tileSums[tile]; }
  }
}
