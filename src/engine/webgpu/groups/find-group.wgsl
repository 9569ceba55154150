// The probe side's probe to the group of build rows that equal a row. A fragment after equal.wgsl.

/// The slot of the group, EMPTY when there is none.
fn findGroup(row: u32) -> u32 {
  if (isExcluded(row)) { return EMPTY; }
  var slot = homeOf(row);
  for (var step = 0u; step < params.slots; step++) {
    let seen = table[slot];
    if (seen == EMPTY) { return EMPTY; }
    if (sameRow(seen, row)) { return slot; }
    slot = slotAfter(slot);
  }
  return EMPTY;
}
