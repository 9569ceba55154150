// Leaving out equal keys before they are written: of a batch whose keys are unevenly frequent, a workgroup writes a frequent key
// once, or a few times. Only where one of equal keys is as good as another. A fragment after probe.wgsl.

/// Items whose keys equal one that the workgroup has met may be left out, if the batch is skewed.
override DISTINCT: bool = false;
/// Keys that are remembered; a power of two.
override SEEN: u32 = 1u;

/// Keys that the workgroup has met, plus one.
var<workgroup> seen: array<atomic<u32>, SEEN>;
var<workgroup> skewed: u32;

/// True when the workgroup has met the key before, as far as it remembers. A compare-exchange that fails for no reason forgets a key.
fn isRepeated(key: u32) -> bool {
  if (key >= TOMBSTONE) { return false; }
  let word = key + 1u;
  var at = key * 0x9e3779b1u;
  for (var turn = 0u; turn < 2u; turn++) {
    at = (at << 16u) | (at >> 16u);
    let before = atomicLoad(&seen[at % SEEN]);
    if (before == word) { return true; }
    if (before != 0u) { continue; }
    let result = atomicCompareExchangeWeak(&seen[at % SEEN], 0u, word);
    if (result.exchanged) { return false; }
    if (result.old_value == word) { return true; }
  }
  return false;
}
