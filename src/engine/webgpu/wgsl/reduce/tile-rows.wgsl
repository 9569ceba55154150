// The entry point of kernels that bring rows into the order of their bins. A fragment after ../partitioned/tile.wgsl,
// for modules with itemOf (the item of a row).
//
// A workgroup takes a tile of WORKGROUP × ITEMS rows. Owns the tile's places; takeRoom says what it shares.

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32, lanes: Lanes) {
  let first = workgroupOf(grid) * TILE;
  if (first >= params.count) { return; }
  var item: array<Item, ITEMS>;
  var at: array<u32, ITEMS>;
  for (var i = 0u; i < ITEMS; i++) {
    item[i] = itemOf(params.first + min(first + i * WORKGROUP + local, params.count - 1u));
  }
  for (var i = 0u; i < ITEMS; i++) {
    at[i] = NONE;
    if (first + i * WORKGROUP + local < params.count) { at[i] = rankIn(binOf(item[i])); }
  }
  workgroupBarrier();
  placeBins(local, lanes);
  workgroupBarrier();
  for (var i = 0u; i < ITEMS; i++) {
    if (at[i] != NONE) { at[i] = placeInTile(at[i]); }
  }
  writeTile(local, &item, &at);
}
