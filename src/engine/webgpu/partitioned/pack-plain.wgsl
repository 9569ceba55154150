// packCounts for devices without subgroup operations. A fragment.

/// Room taken in the tile so far; in the end the number of its items.
var<workgroup> packed: atomic<u32>;

/// Gives every bin a start in the tile, with room for its count, in any order. Needs a barrier before and after.
fn packCounts(local: u32, lanes: Lanes) {
  for (var bin = local; bin < BINS; bin += WORKGROUP) {
    let count = atomicLoad(&counts[bin]);
    if (count > 0u) { starts[bin] = atomicAdd(&packed, count); }
  }
}
