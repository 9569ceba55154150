// dense-matches: the place of every probe row's key and how many build rows it has, and the sum of these. A fragment
// after ../groups/key-place.wgsl and ../groups/add-total.wgsl.
//
// 256 invocations a workgroup, one row each. Owns its row's match. Bytes per row: a key read, 4 read at random, 8
// written.

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let at = invocation(grid, local);
  var size = 0u;
  if (at < params.count) {
    let row = params.first + at;
    let place = placeOf(row);
    if (place != EMPTY) { size = sizes[place]; }
    matches[row] = vec2u(place, size);
  }
  addTotal(local, size);
}
