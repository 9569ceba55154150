// scan: exclusive prefix sums of 2,048 neighbouring words in place, and each tile's sum. Reduce-then-scan: the sums are
// scanned the same way and added by scan-add. No workgroup waits for another.
//
// 256 invocations a workgroup, eight words each. Bytes per word: 4 read, 4 written.

const ITEMS: u32 = 8u;
var<workgroup> partial: array<u32, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let tile = workgroupOf(grid);
  let first = (tile * WORKGROUP + local) * ITEMS;
  var mine: array<u32, ITEMS>;
  var sum = 0u;
  for (var i = 0u; i < ITEMS; i++) {
    mine[i] = sum;
    if (first + i < params.total) { sum += words[first + i]; }
  }
  partial[local] = sum;
  workgroupBarrier();
  for (var reach = 1u; reach < WORKGROUP; reach <<= 1u) {
    var before = 0u;
    if (local >= reach) { before = partial[local - reach]; }
    workgroupBarrier();
    partial[local] += before;
    workgroupBarrier();
  }
  let start = partial[local] - sum;
  for (var i = 0u; i < ITEMS; i++) {
    if (first + i < params.total) { words[first + i] = start + mine[i]; }
  }
  if (local == WORKGROUP - 1u && first - local * ITEMS < params.total) { tileSums[tile] = partial[local]; }
}
