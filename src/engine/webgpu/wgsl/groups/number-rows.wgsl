// number-rows: gives equal rows (a join's build rows, the rows of a grouping) one leader, leaders numbers, and every
// row a rank among the rows of its leader. The leader is the row that claimed the group's slot: a slot holds its row
// number.
//
// 256 invocations a workgroup, one row each; a workgroup takes its leaders' numbers with one addition. Owns: its row's
// leader and rank, and its row's number if it is a leader. Shares: the table and the leaders' sizes. Races: claiming is
// a compare-exchange from EMPTY to a row number, and rows are compared through records that nothing writes in this
// dispatch, so it does not matter which row of a group comes first. A slot changes once. Numbers are read by later
// dispatches only. Bytes per row at load 0.5: a record read, about 1.5 slots and as many records compared, 8 to 12
// written.

/// Spurious failures that one row takes before it is left to another dispatch.
const SPURIOUS_LIMIT: u32 = 256u;

/// Steps after which a probe asks whether another one has found no place.
const PATIENCE: u32 = 32u;

var<workgroup> claimed: atomic<u32>;
var<workgroup> firstNumber: u32;

/// The leader of a row's group: the row itself if it claims the slot, EMPTY when it has to be tried again, or has no
/// place within its reach: then the host begins anew with another seed, and all else here is in vain.
fn findOrClaim(row: u32) -> u32 {
  var slot = homeOf(row);
  var spurious = 0u;
  for (var step = 0u; step < params.reach;) {
    var seen = atomicLoad(&table[slot]);
    if (seen == EMPTY) {
      let claim = compareExchange(slot, EMPTY, row);
      if (claim.stored) { return row; }
      if (claim.old == EMPTY) {
        spurious++;
        if (spurious < SPURIOUS_LIMIT) { continue; }
        return EMPTY;
      }
      seen = claim.old;
    }
    if (sameRow(seen, row)) { return seen; }
    slot = slotAfter(slot);
    step++;
    if (step == PATIENCE && atomicLoad(&control.crowded) != 0u) { return EMPTY; }
  }
  atomicStore(&control.crowded, 1u);
  return EMPTY;
}

/// The leader of a row, and its rank noted; EMPTY for a row that is in no group or has to be tried again, which is
/// counted.
fn leaderOf(row: u32) -> u32 {
  if (isExcluded(row)) {
    if (params.round == 0u) { atomicAdd(&control.excluded, 1u); }
    return EMPTY;
  }
  let leader = findOrClaim(row);
  if (leader == EMPTY) {
    atomicAdd(&control.unfinished, 1u);
  } else if (RANKED) {
    ranks[row] = atomicAdd(&sizes[leader], 1u);
  }
  return leader;
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let at = invocation(grid, local);
  let row = params.first + at;
  let isOpen = at < params.count && (params.round == 0u || leaders[row] == EMPTY);
  var leader = EMPTY;
  if (isOpen) {
    leader = leaderOf(row);
    leaders[row] = leader;
  }
  let isLeader = isOpen && leader == row;
  if (NUMBERED) {
    var before = 0u;
    if (isLeader) { before = atomicAdd(&claimed, 1u); }
    workgroupBarrier();
    if (local == 0u) { firstNumber = atomicAdd(&control.groups, atomicLoad(&claimed)); }
    workgroupBarrier();
    if (isLeader) { numbers[row] = firstNumber + before; }
  } else if (isLeader) {
    atomicAdd(&control.groups, 1u);
  }
}
