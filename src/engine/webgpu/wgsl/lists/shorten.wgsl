// shorten: the lengths of lists after entries were struck. One list an invocation, whose number no other has; owns its
// head.

var<workgroup> emptied: atomic<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let row = params.first + invocation(grid, local);
  if (row < params.total) {
    let number = numbers[params.numbersShift + row];
    let before = offsets[row + 1u] - offsets[row];
    let length = before - (struck[offsets[row + 1u] + 1u] - struck[offsets[row] + 1u]);
    if (number != NO_LIST && before > 0u) {
      heads[number * HEAD] = length;
      if (length == 0u) {
        heads[number * HEAD + 1u] = 0u;
        atomicAdd(&emptied, 1u);
      }
    }
  }
  workgroupBarrier();
  if (local == 0u && atomicLoad(&emptied) > 0u) { atomicAdd(&control.filled, atomicLoad(&emptied)); }
}
