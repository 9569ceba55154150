// match-counts: the number of pairs of every probe row, as a column to scan. One row an invocation; 8 bytes read, 4
// written.

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let row = invocation(grid, local);
  if (row < params.count) { counts[row] = matches[row].y; }
}
