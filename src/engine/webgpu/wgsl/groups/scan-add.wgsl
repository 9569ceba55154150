// scan-add: adds each tile's scanned sum to its 2,048 words. 256 invocations a workgroup, eight words each.
// Bytes per word: 4 read, 4 written.

const ITEMS: u32 = 8u;

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let tile = workgroupOf(grid);
  let first = tile * WORKGROUP * ITEMS + local;
  for (var i = 0u; i < ITEMS; i++) {
    let at = first + i * WORKGROUP;
    if (at < params.total) { words[at] += tileSums[tile]; }
  }
}
