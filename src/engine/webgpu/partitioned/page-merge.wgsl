// Values of a page's items that are combined with that of the one with their key that is kept (COMBINES). A fragment
// after merge.wgsl, for modules with CAPACITY and WORKGROUP.

/// Before the first: no values are merged. By all invocations, with a barrier behind it.
fn forgetMerged(local: u32) {
  if (!COMBINES) { return; }
  for (var at = local; at < CAPACITY; at += WORKGROUP) { atomicStore(&merged[at], bitcast<Value>(params.fill)); }
}

/// Item number `at` with the values that were merged into it.
fn withMerged(item: Item, at: u32) -> Item {
  if (!COMBINES) { return item; }
  return makeItem(itemKey(item), combined(bitcast<u32>(atomicLoad(&merged[at])), itemValue(item)));
}

/// Merges an item's value into that of item number `at`. False when it meets too many others.
fn mergeInto(at: u32, item: Item) -> bool { return !COMBINES || combineInto(at, itemValue(item)); }
