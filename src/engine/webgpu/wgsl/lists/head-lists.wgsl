// head lists: the heads of lists that lie one after another, by where each begins. One list an invocation; owns its
// head.

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let list = params.first + invocation(grid, local);
  if (list >= params.total) { return; }
  let length = offsets[list + 1u] - offsets[list];
  heads[list * HEAD] = length;
  if (HEAD == 2u && length > 0u) { heads[list * HEAD + 1u] = offsets[list]; }
}
