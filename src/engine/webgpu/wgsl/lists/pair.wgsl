// pair: one element of 64 bits an element: a value's word, and the number above it. One element an invocation. 2 words
// read, 2 written.

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let row = invocation(grid, local);
  if (row >= params.count) { return; }
  pairs[(params.first + row) * 2u] = values[params.valuesShift + row];
  pairs[(params.first + row) * 2u + 1u] = numbers[params.numbersShift + row];
}
