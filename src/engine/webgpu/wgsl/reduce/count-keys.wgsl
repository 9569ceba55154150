// count-keys: gives every group a slot of the table, counts its rows and finds its first one, as the greatest of ~row.
// A fragment after claim-slot.wgsl and group-cache.wgsl. Counts and first rows are 0 at first; so are those of slots
// that no group has in the end.
//
// INVOCATIONS invocations a workgroup, params.items rows each. Shares: the table (claim-slot.wgsl), and by addition or
// as they rise counts and first rows. Bytes per row: 4 read (with row numbers 8), and where a group has no slot in the
// cache up to 12 read and 8 changed at random.

struct Entry { isTaken: bool, key: RowKey, row: u32 }

var<workgroup> ownCounts: array<atomic<u32>, CACHE + 1u>;
var<workgroup> ownFirsts: array<atomic<u32>, CACHE + 1u>;

fn load(element: u32) -> Entry {
  return Entry(true, keyAt(element), rowAt(element));
}

fn addToGroup(group: u32, count: u32, first: u32) {
  if (group == EMPTY) { return; }
  atomicAdd(&counts[group], count);
  if (atomicLoad(&firsts[group]) < first) { atomicMax(&firsts[group], first); }
}

fn take(entry: Entry) {
  let slot = slotFor(entry.key);
  if (slot == NO_SLOT) {
    addToGroup(groupFor(entry.key), 1u, ~entry.row);
    return;
  }
  atomicAdd(&ownCounts[slot], 1u);
  // most rows are not the first, and reading waits for nobody
  if (atomicLoad(&ownFirsts[slot]) < ~entry.row) { atomicMax(&ownFirsts[slot], ~entry.row); }
}

fn merge(slot: u32, group: u32) {
  addToGroup(group, atomicLoad(&ownCounts[slot]), atomicLoad(&ownFirsts[slot]));
}

/// The table is known to have too few slots.
fn isFutile() -> bool { return atomicLoad(&control.keysLeft) != 0u; }

fn ended(local: u32) {
  if (local == 0u && atomicLoad(&holders[NULLS]) != 0u) { atomicStore(&control.keyNulls, 1u); }
  workgroupBarrier();
  let count = atomicLoad(&claimed);
  if (local == 0u && count > 0u) { atomicAdd(&control.keyGroups, count); }
}
