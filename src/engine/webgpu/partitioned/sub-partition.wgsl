// sub-partition: splits every partition into pages of neighbouring slots (multisplit, second level).
//
// Workgroups (x, partition): tiles of one partition each, as in scatter, where most items with equal keys become one,
// as there. A page's items are staged at page × pageRoom; what a page has no room for is left to the fallback. Or, for
// items whose results are to come back, it is noted where they went (places.wgsl), in records that are numbered as
// tileNumber says. Shares the pages' cursors. Bytes per item: its own read and written, 2.2 more written for places.

/// Number of the first page of the workgroup's partition.
var<private> firstPage: u32;

/// The page within its partition. Keys that live in side slots go to the first page, which leaves them to the fallback
/// (page-find: leaves them open).
fn binOf(item: Item) -> u32 {
  let page = (homeOf(itemKey(item)) >> PAGE_SHIFT) & (params.pagesPerPartition - 1u);
  return select(page, 0u, isSide(itemKey(item)));
}

fn takeRoom(page: u32, count: u32) -> u32 { return atomicAdd(&cursors[firstPage + page], count); }

fn runAt(page: u32, at: u32) -> u32 { return (firstPage + page) * params.pageRoom + at; }

fn fits(page: u32, at: u32) -> bool { return bases[page] + starts[page] + at < params.pageRoom; }

fn putItem(page: u32, place: u32, item: Item) {
  if (place < params.pageRoom) {
    items[(firstPage + page) * params.pageRoom + place] = item;
  } else {
    fallBack(item);
  }
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32, lanes: Lanes) {
  let partitionIndex = grid.workgroup.y;
  firstPage = partitionIndex * params.pagesPerPartition;
  let end = min(partitionEnds[partitionIndex], partitionEnds[PARTITION_BINS + 2u + partitionIndex]);
  let distinct = DISTINCT && partitionEnds[PARTITION_BINS] != 0u;
  // partitions that items were lost of have gaps, where anything may be
  if (partitionEnds[PARTITION_BINS + 1u] != 0u) { atomicStore(&control.aborted, 1u); }
  for (var first = partitionStarts[partitionIndex] + grid.workgroup.x * TILE; first < end; first += grid.workgroups.x * TILE) {
    var item: array<Item, ITEMS>;
    var at: array<u32, ITEMS>;
    for (var i = 0u; i < ITEMS; i++) { item[i] = partitions[min(first + i * WORKGROUP + local, end - 1u)]; }
    for (var bin = local; bin < BINS; bin += WORKGROUP) { atomicStore(&counts[bin], 0u); }
    if (local == 0u) {
      atomicStore(&packed, 0u);
      forgetRuns();
    }
    // what was merged is in its item by now
    if (MERGES && distinct) { forgetMerged(local); }
    workgroupBarrier();
    for (var i = 0u; i < ITEMS; i++) {
      at[i] = NONE;
      if (first + i * WORKGROUP + local >= end || (distinct && isLeftOut(item[i], first + i * WORKGROUP + local))) { continue; }
      at[i] = rankIn(binOf(item[i]));
    }
    workgroupBarrier();
    placeBins(local, lanes);
    let tile = tileNumber(partitionIndex, partitionStarts[partitionIndex], first);
    noteRuns(tile, local);
    workgroupBarrier();
    notePlaces(tile, local, &at);
    for (var i = 0u; i < ITEMS; i++) {
      if (at[i] == NONE) { continue; }
      at[i] = placeInTile(at[i]);
      if (MERGES && distinct) { item[i] = withLeftOut(item[i]); }
    }
    writeTile(local, &item, &at);
    workgroupBarrier();
  }
}
