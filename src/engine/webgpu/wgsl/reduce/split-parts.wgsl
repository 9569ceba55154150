// split-parts: brings the rows of each of 2^params.splitBits parts into the order of its 2^(params.partBits -
// params.splitBits) smaller ones. A fragment after part-items.wgsl and ../partitioned/tile.wgsl.
//
// params.tiles workgroups a part, one part after the other, which take tiles of WORKGROUP × ITEMS of its rows in turn.
// Parts params.first .. params.first + params.groups are this dispatch's. Shares `cursors`, how many rows each smaller
// part has so far, by addition. Bytes per row: 8 read and written, and 4 for a value.

/// Number of the first smaller part of the workgroup's part.
var<private> firstPart: u32;

fn binOf(item: Item) -> u32 {
  return (item.x >> (32u - params.partBits)) & ((1u << (params.partBits - params.splitBits)) - 1u);
}
fn takeRoom(bin: u32, count: u32) -> u32 {
  return startOf(firstPart + bin, params.partBits) + atomicAdd(&cursors[firstPart + bin], count);
}

fn itemAt(at: u32) -> Item {
  var value = 0u;
  if (VALUED) { value = splitWords[at]; }
  return Item(splitItems[at], value);
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32, lanes: Lanes) {
  let number = workgroupOf(grid);
  if (number >= params.groups * params.tiles) { return; }
  let part = params.first + number / params.tiles;
  firstPart = part << (params.partBits - params.splitBits);
  let begin = startOf(part, params.splitBits);
  let end = startOf(part + 1u, params.splitBits);
  for (var first = begin + number % params.tiles * TILE; first < end; first += params.tiles * TILE) {
    var item: array<Item, ITEMS>;
    var at: array<u32, ITEMS>;
    for (var i = 0u; i < ITEMS; i++) { item[i] = itemAt(min(first + i * WORKGROUP + local, end - 1u)); }
    for (var bin = local; bin < BINS; bin += WORKGROUP) { atomicStore(&counts[bin], 0u); }
    if (local == 0u) { atomicStore(&packed, 0u); }
    workgroupBarrier();
    for (var i = 0u; i < ITEMS; i++) {
      at[i] = NONE;
      if (first + i * WORKGROUP + local < end) { at[i] = rankIn(binOf(item[i])); }
    }
    workgroupBarrier();
    placeBins(local, lanes);
    workgroupBarrier();
    for (var i = 0u; i < ITEMS; i++) {
      if (at[i] != NONE) { at[i] = placeInTile(at[i]); }
    }
    writeTile(local, &item, &at);
    workgroupBarrier();
  }
}
