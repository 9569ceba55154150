// scatter-rows: lists keys and row numbers in the order of the upper bits of mixed keys: see listed-rows.wgsl. A fragment after
// ../partitioned/tile.wgsl and ../table/hash.wgsl.
//
// A workgroup takes a tile of WORKGROUP × ITEMS rows. Owns the tile's places; shares `cursors`, where each bin's next rows go, by addition.
// Bytes per row: 4 read, 8 written.

alias Item = vec2u;

fn binOf(item: Item) -> u32 { return murmur3(item.x) >> (32u - BIN_BITS); }
fn takeRoom(bin: u32, count: u32) -> u32 { return atomicAdd(&cursors[bin], count); }
fn putItem(bin: u32, at: u32, item: Item) { items[at] = item; }

fn itemOf(row: u32) -> Item {
  let isNull = params.keyNullable == 1u && ((keyValidity[row / 32u] >> (row % 32u)) & 1u) == 0u;
  return Item(keys[row], row | select(0u, 0x80000000u, isNull));
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
  lanes: Lanes,
) {
  let first = (workgroup.y * workgroups.x + workgroup.x) * TILE;
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
