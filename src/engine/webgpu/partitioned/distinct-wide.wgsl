// In place of distinct.wgsl for keys of several words, which no atomic holds: the workgroup remembers the number of an
// item with the key, and reads that one's key again to compare. One of equal keys is as good as another (DISTINCT);
// values are not combined. A fragment after cas-seen.wgsl, for modules with numberedKey (the key of the item of a
// number).

/// Numbers of the items whose keys the workgroup has met, plus one.
var<workgroup> seen: array<atomic<u32>, SEEN>;
var<workgroup> skewed: u32;

fn forgetMerged(local: u32) {}

fn withLeftOut(item: Item) -> Item { return item; }

/// True when the workgroup has met the item's key before, as far as it remembers. A compare-exchange that fails for no
/// reason forgets a key.
fn isLeftOut(item: Item, number: u32) -> bool {
  let key = itemKey(item);
  if (isSide(key)) { return false; }
  var at = mixOf(key);
  for (var turn = 0u; turn < 2u; turn++) {
    at = (at << 16u) | (at >> 16u);
    var before = atomicLoad(&seen[at % SEEN]);
    if (before == 0u) {
      let exchange = exchangeSeen(at % SEEN, number + 1u);
      if (exchange.stored || exchange.old == 0u) { return false; }
      before = exchange.old;
    }
    if (sameKey(numberedKey(before - 1u), key)) { return true; }
  }
  return false;
}
