// count up: `base`, `base` + 1, … One element an invocation. Owns its word. 1 word written.

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let row = invocation(grid, local);
  if (row < params.count) { words[row] = params.base + row; }
}
