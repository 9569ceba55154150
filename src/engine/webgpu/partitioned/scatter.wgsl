// scatter: puts the chunk's elements in the order of their partitions (multisplit, first level).
//
// A workgroup takes a tile of WORKGROUP × ITEMS elements, ranks them by partition with counters in workgroup memory,
// takes room for each partition's run with one atomic addition, and writes the runs. Exact under any skew: places come
// from the histogram, or (SAMPLED) from a sample, and it is seen when that was wrong. Of a skewed batch most items with
// equal keys become one here (distinct.wgsl), and a partition's items end where its cursor stands. Owns its tile's
// places; shares the cursors. The order inside a partition is that in which tiles get there. Bytes per element: those
// of the item read and written, 2.2 more written with PLACED.

fn binOf(item: Item) -> u32 { return partitionOf(itemKey(item)); }

/// In place of the place of an item that is lost, and above.
const LOST: u32 = 0x80000000u;

fn takeRoom(partitionIndex: u32, count: u32) -> u32 {
  let at = atomicAdd(&cursors[partitionIndex], count);
  if (!SAMPLED || at + count <= atomicLoad(&cursors[BINS + 2u + partitionIndex])) { return at; }
  atomicAdd(&cursors[BINS + 1u], count);
  return LOST;
}

fn runAt(partitionIndex: u32, at: u32) -> u32 { return at; }

fn fits(partitionIndex: u32, at: u32) -> bool { return true; }

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32, lanes: Lanes) {
  let number = workgroupOf(grid);
  let first = number * TILE;
  if (first >= params.count) { return; }
  var item: array<Item, ITEMS>;
  var at: array<u32, ITEMS>;
  for (var i = 0u; i < ITEMS; i++) {
    let element = min(first + i * WORKGROUP + local, params.count - 1u);
    item[i] = makeItem(keyOf(element), carriedOf(element));
  }
  if (DISTINCT && local == 0u) { skewed = atomicLoad(&cursors[BINS]); }
  let distinct = DISTINCT && workgroupUniformLoad(&skewed) != 0u;
  if (MERGES && distinct) {
    forgetMerged(local);
    workgroupBarrier();
  }
  for (var i = 0u; i < ITEMS; i++) {
    at[i] = NONE;
    if (!isSelected(first + i * WORKGROUP + local)) { continue; }
    if (distinct && isLeftOut(item[i], first + i * WORKGROUP + local)) { continue; }
    at[i] = rankIn(binOf(item[i]));
  }
  workgroupBarrier();
  placeBins(local, lanes);
  if (PLACED) { noteRuns(number, local); }
  if (MERGES && distinct) {
    for (var i = 0u; i < ITEMS; i++) {
      if (at[i] != NONE) { item[i] = withLeftOut(item[i]); }
    }
  }
  workgroupBarrier();
  if (PLACED) { notePlaces(number, local, &at); }
  for (var i = 0u; i < ITEMS; i++) {
    if (at[i] != NONE) { at[i] = placeInTile(at[i]); }
  }
  writeTile(local, &item, &at);
}
