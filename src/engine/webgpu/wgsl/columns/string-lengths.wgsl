// string-lengths: the bytes of each gathered string, and of all together. A fragment after add-total.wgsl.
// 256 invocations a workgroup, one row each. Bytes per row: 4 read in order and 8 at random, 4 written.

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let at = invocation(grid, local);
  var length = 0u;
  if (at < params.count) {
    let row = rows[params.first + at];
    if (row != EMPTY) { length = offsets[row + 1u] - offsets[row]; }
    lengths[params.first + at] = length;
  }
  addTotal(local, length);
}
