// Keys that a workgroup meets more than once, in batches whose keys are unevenly frequent: their items are left out
// before they are written, so that a frequent key is written once, or a few times. Where one of equal keys is as good
// as another (DISTINCT), or where their values are combined first (MERGES). A fragment after merge.wgsl and
// cas-seen.wgsl.

/// Keys that the workgroup has met, plus one.
var<workgroup> seen: array<atomic<u32>, SEEN>;
var<workgroup> skewed: u32;

/// True when the workgroup has met the key before, as far as it remembers: in one place, the first of two that was
/// free. A compare-exchange that fails for no reason forgets a key.
fn isRepeated(key: u32) -> bool {
  if (key >= TOMBSTONE) { return false; }
  let word = key + 1u;
  var at = key * 0x9e3779b1u;
  for (var turn = 0u; turn < 2u; turn++) {
    at = (at << 16u) | (at >> 16u);
    let before = atomicLoad(&seen[at % SEEN]);
    if (before == word) { return true; }
    if (before != 0u) { continue; }
    let exchange = exchangeSeen(at % SEEN, word);
    if (exchange.stored || exchange.old == 0u) { return false; }
    if (exchange.old == word) { return true; }
  }
  return false;
}

/// Where a key that was met is remembered; SEEN when it is not.
fn placeOf(key: u32) -> u32 {
  let word = key + 1u;
  var at = key * 0x9e3779b1u;
  for (var turn = 0u; turn < 2u; turn++) {
    at = (at << 16u) | (at >> 16u);
    if (key < TOMBSTONE && atomicLoad(&seen[at % SEEN]) == word) { return at % SEEN; }
  }
  return SEEN;
}

/// Before a tile: no values are merged. By all invocations, with a barrier behind it.
fn forgetMerged(local: u32) {
  for (var i = local; i < SEEN; i += WORKGROUP) {
    atomicStore(&seen[i], 0u);
    atomicStore(&merged[i], bitcast<Value>(params.fill));
  }
}

/// True when an item of a skewed batch goes no further. Its value is in `merged` then, if values are combined.
fn isLeftOut(item: Item, number: u32) -> bool {
  if (!isRepeated(itemKey(item))) { return false; }
  return !MERGES || combineInto(placeOf(itemKey(item)), itemValue(item));
}

/// An item with the values of those that were left out for it, once all were met. They are given once.
fn withLeftOut(item: Item) -> Item {
  let at = placeOf(itemKey(item));
  if (at == SEEN) { return item; }
  return makeItem(itemKey(item), combined(takeMerged(at), itemValue(item)));
}
