// build: groups equal rows of the build side. A slot holds the number of one row of its group.
//
// 256 invocations a workgroup, one row each. Owns: its row's place. Shares: the table and the groups' sizes.
// Races: claiming is a compare-exchange from EMPTY to a row number, and rows are compared through records that nothing
// writes in this dispatch, so it does not matter which row of a group comes first. A slot changes once.
// Bytes per row at load 0.5: a record read, about 1.5 slots and as many records compared, 8 written.


/// Spurious failures that one row takes before it is left to another dispatch.
const SPURIOUS_LIMIT: u32 = 256u;

/// The slot of a row's group, EMPTY when it has to be tried again.
fn claimGroup(row: u32) -> u32 {
  var slot = homeOf(row);
  var spurious = 0u;
  for (var step = 0u; step < params.slots;) {
    var seen = atomicLoad(&table[slot]);
    if (seen == EMPTY) {
      let claim = compareExchange(slot, EMPTY, row);
      if (claim.stored) {
        atomicAdd(&control.groups, 1u);
        return slot;
      }
      if (claim.old == EMPTY) {
        spurious++;
        if (spurious < SPURIOUS_LIMIT) { continue; }
        return EMPTY;
      }
      seen = claim.old;
    }
    if (sameRow(seen, row)) { return slot; }
    slot = slotAfter(slot);
    step++;
  }
  return EMPTY;
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let at = invocation(workgroup, workgroups, local);
  if (at >= params.count) { return; }
  let row = params.first + at;
  if (isExcluded(row) || places[row].x != EMPTY) { return; }
  let slot = claimGroup(row);
  if (slot == EMPTY) {
    atomicAdd(&control.unfinished, 1u);
  } else {
    places[row] = vec2u(slot, atomicAdd(&groupSizes[slot], 1u));
  }
}
