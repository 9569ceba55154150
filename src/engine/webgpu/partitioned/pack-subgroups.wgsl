// packCounts with subgroup operations. A fragment after lanes-subgroups.wgsl.

/// Room taken in the tile so far; in the end the number of its items.
var<workgroup> packed: atomic<u32>;

/// Gives every bin a start in the tile, with room for its count, in any order. Needs a barrier before and after.
fn packCounts(local: u32, lanes: Lanes) {
  for (var first = 0u; first < BINS; first += WORKGROUP) {
    let bin = first + local;
    var count = 0u;
    if (bin < BINS) { count = atomicLoad(&counts[bin]); }
    let before = subgroupExclusiveAdd(count);
    let total = subgroupAdd(count);
    var base = 0u;
    if (subgroupElect()) { base = atomicAdd(&packed, total); }
    base = subgroupBroadcastFirst(base);
    if (bin < BINS) { starts[bin] = base + before; }
  }
}
