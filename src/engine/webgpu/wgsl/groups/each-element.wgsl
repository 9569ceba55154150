// Going over the elements of a dispatch: an entry point that calls onElement(element) for each. 256 invocations a
// workgroup, one element each. A fragment after rows.wgsl.

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let at = invocation(grid, local);
  if (at < params.count) { onElement(params.first + at); }
}
