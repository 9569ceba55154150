// A multisplit's tile: WORKGROUP × ITEMS items that go through workgroup memory into the order of their bins, so that
// neighbouring invocations write neighbouring items. A fragment for modules with binOf (the bin of an item), takeRoom
// (where a bin's next items go) and putItem.
//
// The tile takes ROUNDS rounds, each through memory for one share of it: workgroup memory is what limits how many
// workgroups run side by side, and a long tile makes for long runs of neighbouring writes.

const TILE: u32 = WORKGROUP * ITEMS;
const SHARE: u32 = TILE / ROUNDS;
/// Stands for "no element here".
const NONE: u32 = 0xffffffffu;

var<workgroup> counts: array<atomic<u32>, BINS>;
var<workgroup> starts: array<u32, BINS>;
/// Where a bin's run goes, less its start in the tile.
var<workgroup> bases: array<u32, BINS>;
var<workgroup> share: array<Item, SHARE>;

/// Counts an item. Its bin in the upper half, its rank among the tile's items of that bin in the lower.
fn rankIn(bin: u32) -> u32 { return (bin << 16u) | atomicAdd(&counts[bin], 1u); }

/// Gives every bin room in the tile and where it goes to. Between barriers.
fn placeBins(local: u32, lanes: Lanes) {
  packCounts(local, lanes);
  // each invocation reads the starts that it wrote
  for (var bin = local; bin < BINS; bin += WORKGROUP) {
    let count = atomicLoad(&counts[bin]);
    if (count > 0u) { bases[bin] = takeRoom(bin, count) - starts[bin]; }
  }
}

/// The place in the tile of an item that was counted.
fn placeInTile(rank: u32) -> u32 { return starts[rank >> 16u] + (rank & 0xffffu); }

/// Writes the items whose places in the tile are `at`; NONE for no item.
fn writeTile(local: u32, item: ptr<function, array<Item, ITEMS>>, at: ptr<function, array<u32, ITEMS>>) {
  for (var round = 0u; round < ROUNDS; round++) {
    let first = round * SHARE;
    if (round > 0u) { workgroupBarrier(); }
    for (var i = 0u; i < ITEMS; i++) {
      if ((*at)[i] - first < SHARE) { share[(*at)[i] - first] = (*item)[i]; }
    }
    workgroupBarrier();
    for (var i = 0u; i < ITEMS / ROUNDS; i++) {
      let own = i * WORKGROUP + local;
      if (first + own < atomicLoad(&packed)) {
        let bin = binOf(share[own]);
        putItem(bin, bases[bin] + first + own, share[own]);
      }
    }
  }
}
