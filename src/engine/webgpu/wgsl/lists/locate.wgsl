// locate: the length of each element's list, as a column to scan, and its place; sums the lengths up. A fragment after
// add-total.wgsl.
// 256 invocations a workgroup, one element each. Owns its words. Bytes an element: 4 read, 8 read at random, 8 written.

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let row = invocation(grid, local);
  var length = 0u;
  if (row < params.count) {
    let number = numbers[params.numbersShift + row];
    var place = 0u;
    if (number != NO_LIST) {
      length = heads[number * HEAD];
      if (HEAD == 2u) { place = heads[number * HEAD + 1u]; }
    }
    if (OUTER && length == 0u && isSelected(row)) {
      length = 1u;
      place = MISSING;
    }
    offsets[params.first + row] = length;
    places[params.first + row] = place;
  }
  addTotal(local, length);
}
