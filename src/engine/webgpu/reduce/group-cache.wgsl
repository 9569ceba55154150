// A workgroup's own states of the groups that it meets, so that a group with many rows is merged once a workgroup and not once a row.
// A fragment. Direct-mapped: of the groups with one slot, that which comes first has it for as long as the workgroup runs; rows of
// the others go to the states of all. So does a row whose compare-exchange fails spuriously: no loop, no waiting.

const CACHE: u32 = 512u;
/// Rows that an invocation takes.
const ITEMS: u32 = 16u;

/// Per slot: the number of its group and 1, or 0.
var<workgroup> holders: array<atomic<u32>, CACHE>;

/// The slot of a group; CACHE when another group has it.
fn slotOf(group: u32) -> u32 {
  let slot = group % CACHE;
  var holder = atomicLoad(&holders[slot]);
  if (holder == 0u) {
    let claim = atomicCompareExchangeWeak(&holders[slot], 0u, group + 1u);
    holder = select(claim.old_value, group + 1u, claim.exchanged);
  }
  return select(CACHE, slot, holder == group + 1u);
}
