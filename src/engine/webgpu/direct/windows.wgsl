// Which slots a dispatch has bound. A table that is larger than a binding is bound in windows (WINDOWED). Then each
// window has a dispatch of its own over all elements, and handles those whose probe starts in it; a probe that leaves
// the window leaves its element to a later dispatch. A fragment after batch.wgsl.

/// True for a tile of a chunk in the order of its partitions (partitionShift) that has no probe from a slot of this
/// window. Of a MASKED chunk the first window also writes what elements get that are left out.
fn isElsewhere(grid: Grid) -> bool {
  if (!WINDOWED || FROM_WORKLIST || MASKED || params.partitionShift == 0u) { return false; }
  let first = workgroupOf(grid) * WORKGROUP * ITEMS;
  if (first >= params.count) { return true; }
  let last = min(first + WORKGROUP * ITEMS, params.count) - 1u;
  let firstPartition = partitionOf(keyOf(params.first + first));
  let lastPartition = partitionOf(keyOf(params.first + last));
  let fromPartition = params.windowFirst >> params.partitionShift;
  let toPartition = (params.windowFirst + params.windowSlots - 1u) >> params.partitionShift;
  return lastPartition < fromPartition || firstPartition > toPartition;
}

/// The partition of a key's home slot; keys that live in side slots are of the last partition.
fn partitionOf(key: Key) -> u32 {
  let state = stateOf(key);
  let isSide = !CLAIMED_BY_ROW && state >= TOMBSTONE;
  return select(homeOfState(state), params.slots - 1u, isSide) >> params.partitionShift;
}

/// True for slots that this dispatch has a binding for.
fn isBound(slot: u32) -> bool {
  if (!WINDOWED) { return true; }
  return slot - params.windowFirst < params.windowSlots;
}

/// Where a slot lies in the binding.
fn boundSlot(slot: u32) -> u32 {
  if (!WINDOWED) { return slot; }
  return slot - params.windowFirst;
}
