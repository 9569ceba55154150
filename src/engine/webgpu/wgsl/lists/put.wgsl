// put: writes the values of a batch to the ends of their lists, after tally and allot. One element an invocation; owns
// its entry. Bytes an element: 8 and the value read, 8 read and the value written at random (12 more for a list of
// several pieces).

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let row = invocation(grid, local);
  if (row >= params.count) { return; }
  let number = numbers[params.numbersShift + row];
  if (number == NO_LIST) { return; }
  let address = addressOf(heads[number * HEAD + 1u], added[number] + ranks[params.first + row]);
  for (var word = 0u; word < VALUE_WORDS; word++) {
    room[address * VALUE_WORDS + word] = values[params.valuesShift + row * VALUE_WORDS + word];
  }
}
