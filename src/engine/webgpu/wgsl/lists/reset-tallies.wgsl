// settle: zeroes what tally and allot left in `added`. One element an invocation; of each list the one with rank 0
// writes.

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let row = invocation(grid, local);
  if (row >= params.count || ranks[params.first + row] != 0u) { return; }
  let number = numbers[params.numbersShift + row];
  if (number != NO_LIST) { added[number] = 0u; }
}
