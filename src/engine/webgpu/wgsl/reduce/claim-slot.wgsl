// The slot of a group, which gets one if it has none. A fragment after key-slots.wgsl, group-cache.wgsl and cas.wgsl. A slot changes
// once, and a group's probe passes no slot that is empty, so a group has one slot.

/// Spurious failures that one group takes.
const SPURIOUS_LIMIT: u32 = 256u;
/// Steps after which a probe asks whether others have found the table full.
const PATIENCE: u32 = 8u;

/// Groups that this workgroup gave slots to.
var<workgroup> claimed: atomic<u32>;

/// EMPTY when the table has no slot for the group: then the host does without what the kernel makes.
fn groupOfIdentity(identity: u32) -> u32 {
  var spurious = 0u;
  for (var step = 0u; step < params.steps && spurious < SPURIOUS_LIMIT;) {
    let slot = slotAfterHome(identity, step);
    let wanted = heldBy(identity, step);
    var seen = atomicLoad(&table[slot]);
    if (seen == 0u) {
      let claim = compareExchange(slot, 0u, wanted);
      if (claim.stored) {
        atomicAdd(&claimed, 1u);
        return slot;
      }
      seen = claim.old;
      if (seen == 0u) {
        spurious++;
        continue;
      }
    }
    if (seen == wanted) { return slot; }
    step++;
    if (step == PATIENCE && atomicLoad(&control.keysLeft) > 0u) { break; }
  }
  atomicStore(&control.keysLeft, 1u);
  atomicStore(&stopped, 1u);
  return EMPTY;
}

/// The table is known to have too few slots.
fn isFutile() -> bool { return atomicLoad(&control.keysLeft) != 0u; }

fn replicaBits() -> u32 { return atomicLoad(&control.keyReplicas); }

fn ended(local: u32) {
  if (local == 0u && atomicLoad(&holders[NULLS]) != 0u) { atomicStore(&control.keyNulls, 1u); }
  workgroupBarrier();
  let count = atomicLoad(&claimed);
  if (local == 0u && count > 0u) { atomicAdd(&control.keyGroups, count); }
}
