// look up: the length of each element's list, whether it has any entries, or its first entry. Reads the lists; nobody
// writes them in the same dispatch. 256 invocations a workgroup, four neighbouring elements each, whose four flags are
// one word. Owns their results. Bytes an element: 4 read, 4 to 8 read at random, and its result written.

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let first = invocation(grid, local) * 4u;
  if (first >= params.count) { return; }
  var bytes = 0u;
  for (var i = 0u; i < 4u; i++) {
    let row = first + i;
    if (row >= params.count) { break; }
    let number = numbers[params.numbersShift + row];
    var length = 0u;
    if (number != NO_LIST) { length = heads[number * HEAD]; }
    if (length > 0u) { bytes |= 1u << (i * 8u); }
    if (SIZED) { out[params.outShift + row] = length; }
    if (!VALUED) { continue; }
    var address = 0u;
    if (length > 0u && HEAD == 2u) { address = addressOf(heads[number * HEAD + 1u], 0u); }
    for (var word = 0u; word < OUT_WORDS; word++) {
      var value = select(params.missingLow, params.missingHigh, word == 1u);
      if (length > 0u && HEAD == 2u) { value = room[address * OUT_WORDS + word]; }
      if (length > 0u && HEAD == 1u) { value = stored(keys[params.keysShift + row * OUT_WORDS + word]); }
      out[params.outShift + row * OUT_WORDS + word] = value;
    }
  }
  if (FLAGGED) { flags[params.flagsShift + first / 4u] = bytes; }
}
