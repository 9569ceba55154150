// begin: every selected element becomes the one entry of a list of its own. 256 invocations a workgroup, one element
// each. Owns the head of its number, which no other element has, and the room that goes with it. 2 words read, 1 + HEAD
// + VALUE_WORDS written, all in order.

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let row = invocation(grid, local);
  if (row >= params.count || !isSelected(row)) { return; }
  let number = numbers[params.numbersShift + row];
  heads[number * HEAD] = 1u;
  if (VALUE_WORDS == 0u) { return; }
  let address = params.base + (number - params.firstNumber);
  heads[number * HEAD + 1u] = address;
  for (var word = 0u; word < VALUE_WORDS; word++) {
    room[address * VALUE_WORDS + word] = values[params.valuesShift + row * VALUE_WORDS + word];
  }
}
