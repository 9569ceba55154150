// probe: finds the leader and the size of every probe row's group, and counts pairs. A fragment after add-total.wgsl.
//
// 256 invocations a workgroup, one row each. Owns its row's match.
// Bytes per row at load 0.5: a record read, about 1.5 slots and a record compared, 4 read, 8 written.

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let at = invocation(grid, local);
  var size = 0u;
  if (at < params.count) {
    let row = params.first + at;
    let leader = findGroup(row);
    if (leader != EMPTY) { size = sizes[leader]; }
    matches[row] = vec2u(leader, size);
  }
  addTotal(local, size);
}
