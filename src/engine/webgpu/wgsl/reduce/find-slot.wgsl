// The slot of a group that has one. A fragment after key-slots.wgsl, for tables that nothing writes in the dispatch.

fn groupOfIdentity(identity: u32) -> u32 {
  for (var step = 0u; step < params.steps; step++) {
    let slot = slotAfterHome(identity, step);
    if (table[slot] == heldBy(identity, step)) { return slot; }
  }
  // every group has a slot
  return params.slots;
}
