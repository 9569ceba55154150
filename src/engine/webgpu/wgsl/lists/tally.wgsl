// tally: adds the elements of a batch to the tallies of their lists, and says of each how many of its list came before
// it.
//
// 256 invocations a workgroup, two elements each. They count in workgroup memory first, in a table by number, so that a
// list costs one atomic addition a workgroup, however many elements it has: equal keys cost no more than different
// ones. Owns its elements' ranks. Others add to the same tallies; every addition answers what was there before. Bytes
// an element: 4 read, 4 written, and 8 at random where no two are equal.

const ROWS: u32 = 2u;
const SLOTS: u32 = 1024u;
/// Numbers, and what the workgroup counted for them; then what was counted before.
var<workgroup> slotNumbers: array<atomic<u32>, SLOTS>;
var<workgroup> slotRows: array<atomic<u32>, SLOTS>;
/// Elements with a list, and lists that were empty.
var<workgroup> sums: array<atomic<u32>, 2>;

/// The slot of a number in workgroup memory; SLOTS when exchanges fail without end.
fn slotOf(number: u32) -> u32 {
  var slot = (number * 0x9e3779b1u) >> 22u;
  for (var step = 0u; step < 4u * SLOTS; step++) {
    let found = atomicLoad(&slotNumbers[slot]);
    if (found == number) { return slot; }
    if (found == NO_LIST) {
      let result = atomicCompareExchangeWeak(&slotNumbers[slot], NO_LIST, number);
      if (result.exchanged || result.old_value == number) { return slot; }
      // a spurious failure: the same slot again
      if (result.old_value == NO_LIST) { continue; }
    }
    slot = (slot + 1u) % SLOTS;
  }
  return SLOTS;
}

fn add(number: u32, rows: u32) -> u32 {
  let before = atomicAdd(&tallies[number], rows);
  if (COUNTS_LISTS && before == 0u) { atomicAdd(&sums[1], 1u); }
  return before;
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  for (var slot = local; slot < SLOTS; slot += WORKGROUP) { atomicStore(&slotNumbers[slot], NO_LIST); }
  workgroupBarrier();
  let first = (invocation(grid, local) - local) * ROWS + local;
  var slots: array<u32, ROWS>;
  var ranksHere: array<u32, ROWS>;
  for (var i = 0u; i < ROWS; i++) {
    let row = first + i * WORKGROUP;
    slots[i] = SLOTS + 1u;
    if (row >= params.count) { continue; }
    let number = numbers[params.numbersShift + row];
    if (number == NO_LIST) { continue; }
    atomicAdd(&sums[0], 1u);
    slots[i] = slotOf(number);
    if (slots[i] < SLOTS) { ranksHere[i] = atomicAdd(&slotRows[slots[i]], 1u); }
  }
  workgroupBarrier();
  for (var slot = local; slot < SLOTS; slot += WORKGROUP) {
    let rows = atomicLoad(&slotRows[slot]);
    if (rows > 0u) { atomicStore(&slotRows[slot], add(atomicLoad(&slotNumbers[slot]), rows)); }
  }
  workgroupBarrier();
  for (var i = 0u; i < ROWS; i++) {
    let row = first + i * WORKGROUP;
    if (slots[i] > SLOTS) { continue; }
    var rank = ranksHere[i];
    if (slots[i] < SLOTS) { rank += atomicLoad(&slotRows[slots[i]]); } else { rank = add(numbers[params.numbersShift + row], 1u); }
    if (RANKED) { ranks[params.first + row] = rank; }
  }
  workgroupBarrier();
  if (local == 0u) {
    atomicAdd(&control.entries, atomicLoad(&sums[0]));
    if (COUNTS_LISTS) { atomicAdd(&control.filled, atomicLoad(&sums[1])); }
  }
}
