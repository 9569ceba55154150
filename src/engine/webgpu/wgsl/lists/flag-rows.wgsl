// flag rows: 1 for each selected element, as a column to scan. One element an invocation. Owns its word. 1/4 word read,
// 1 written.

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let row = invocation(grid, local);
  if (row < params.count) { words[1u + params.first + row] = select(0u, 1u, isSelected(row)); }
}
