// tally groups: adds the sizes of groups to the tallies of their lists, and says of each how many elements of its list
// came before it.
//
// 256 invocations a workgroup, one group each. Owns its group's rank; others add to the same tallies.
// Bytes a group: 8 read, 4 written, and 8 at random.

/// Elements with a list, and lists that were empty.
var<workgroup> sums: array<atomic<u32>, 2>;

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let group = invocation(grid, local);
  if (group < params.count) {
    let number = numbers[params.numbersShift + group];
    if (number != NO_LIST) {
      let before = atomicAdd(&tallies[number], sizes[group]);
      if (RANKED) { ranks[group] = before; }
      if (COUNTS_LISTS && before == 0u) { atomicAdd(&sums[1], 1u); }
      atomicAdd(&sums[0], sizes[group]);
    }
  }
  workgroupBarrier();
  if (local == 0u) {
    atomicAdd(&control.entries, atomicLoad(&sums[0]));
    if (COUNTS_LISTS) { atomicAdd(&control.filled, atomicLoad(&sums[1])); }
  }
}
