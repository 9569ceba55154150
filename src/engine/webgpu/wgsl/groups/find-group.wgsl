// A row's probe to the group that it equals. A fragment after equal.wgsl, for tables that nothing writes in the
// dispatch.

/// The leader of the group, EMPTY when there is none: all are within their rows' reach.
fn findGroup(row: u32) -> u32 {
  if (isExcluded(row)) { return EMPTY; }
  var slot = homeOf(row);
  for (var step = 0u; step < params.reach; step++) {
    let seen = table[slot];
    if (seen == EMPTY || sameRow(seen, row)) { return seen; }
    slot = slotAfter(slot);
  }
  return EMPTY;
}
