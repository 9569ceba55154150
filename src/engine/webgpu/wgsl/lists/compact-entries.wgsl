// stay: writes the entries that were not struck to the beginnings of their lists. `struck` says from its second word on
// how many entries go before each. `copies` are all values as they were: so nobody reads what another invocation
// writes. One entry an invocation; owns the place of its new position.

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let entry = params.first + invocation(grid, local);
  if (entry >= params.total || struck[entry + 2u] != struck[entry + 1u]) { return; }
  let element = queries[entry];
  let start = offsets[element];
  let address = addressOf(places[element], entry - start - (struck[entry + 1u] - struck[start + 1u]));
  for (var word = 0u; word < VALUE_WORDS; word++) {
    room[address * VALUE_WORDS + word] = copies[entry * VALUE_WORDS + word];
  }
}
