// Keys that a workgroup meets more than once, in batches whose keys are unevenly frequent: their items are left out before they are
// written, so that a frequent key is written once, or a few times. Where one of equal keys is as good as another (DISTINCT), or
// where their values are combined first (MERGES). A fragment after merge.wgsl and tile.wgsl.

/// Items may be left out, if the batch is skewed.
override DISTINCT: bool = false;
/// The values of items that are left out are combined with that of the first.
override MERGES: bool = false;
/// Keys that are remembered; a power of two.
override SEEN: u32 = 1u;

/// Keys that the workgroup has met, plus one.
var<workgroup> seen: array<atomic<u32>, SEEN>;
var<workgroup> skewed: u32;

/// Where a key is remembered (or that it is not), and whether it was met for the first time.
struct Meeting {
  at: u32,
  first: bool,
}
const FORGOTTEN: u32 = 0xffffffffu;

/// Remembers a key. A compare-exchange that fails for no reason forgets it.
fn meetKey(key: u32) -> Meeting {
  if (key >= TOMBSTONE) { return Meeting(FORGOTTEN, false); }
  let word = key + 1u;
  var hash = key * 0x9e3779b1u;
  for (var turn = 0u; turn < 2u; turn++) {
    hash = (hash << 16u) | (hash >> 16u);
    let at = hash % SEEN;
    let before = atomicLoad(&seen[at]);
    if (before == word) { return Meeting(at, false); }
    if (before != 0u) { continue; }
    let result = atomicCompareExchangeWeak(&seen[at], 0u, word);
    if (result.exchanged) { return Meeting(at, true); }
    if (result.old_value == word) { return Meeting(at, false); }
  }
  return Meeting(FORGOTTEN, false);
}

/// With the rank of an item that others are left out for.
const STANDS: u32 = 0x80000000u;

/// The rank (tile.wgsl) of an item, of a batch that is skewed or not; NONE for one that is left out.
fn rankDistinct(item: Item, isSkewed: bool) -> u32 {
  if (!DISTINCT || !isSkewed) { return rankIn(binOf(item)); }
  let met = meetKey(itemKey(item));
  if (met.at == FORGOTTEN) { return rankIn(binOf(item)); }
  if (met.first) { return rankIn(binOf(item)) | select(0u, STANDS, MERGES); }
  if (!MERGES || merge(met.at, itemValue(item))) { return NONE; }
  return rankIn(binOf(item));
}

/// An item with the values of those that were left out for it, once all were met.
fn withLeftOut(item: Item) -> Item {
  return makeItem(itemKey(item), withMerged(itemValue(item), meetKey(itemKey(item)).at));
}

fn isStanding(rank: u32) -> bool { return MERGES && rank != NONE && (rank & STANDS) != 0u; }
