// refine: splits every part into pages of neighbouring slots (multisplit, second level).
//
// Workgroups (x, part): tiles of one part each, as in scatter, where most items with equal keys become one, as there. A page's
// items are staged at page × pageRoom; what a page has no room for is spilled. Or, for items whose results are to come back, it is
// noted where they went (places.wgsl), in records that are numbered as tileNumber says.
// Shares the pages' cursors. Bytes per item: 4 read and 4 written (pairs: 8 and 8), 2.2 more written for places.

override PAGE_SHIFT: u32 = 12u;

@group(0) @binding(2) var<storage, read> parts: array<Item>;
@group(0) @binding(3) var<storage, read> partStarts: array<u32>;
/// scatter's cursors: where the parts' items end, whether the batch is skewed, how many items were lost, and where the parts' room ends.
@group(0) @binding(8) var<storage, read> partEnds: array<u32>;
override PART_BINS: u32 = 256u;
@group(0) @binding(4) var<storage, read_write> cursors: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> items: array<Item>;

/// Number of the first page of the workgroup's part.
var<private> firstPage: u32;

/// The page within its part. Keys that live in side slots go to the first page, which spills them (page-find: leaves them open).
fn binOf(item: Item) -> u32 {
  let page = (homeOf(itemKey(item)) >> PAGE_SHIFT) & (params.pagesOfPart - 1u);
  return select(page, 0u, itemKey(item) >= TOMBSTONE);
}

fn takeRoom(page: u32, count: u32) -> u32 { return atomicAdd(&cursors[firstPage + page], count); }

fn runAt(page: u32, at: u32) -> u32 { return (firstPage + page) * params.pageRoom + at; }

fn fits(page: u32, at: u32) -> bool { return bases[page] + starts[page] + at < params.pageRoom; }

fn putItem(page: u32, place: u32, item: Item) {
  if (place < params.pageRoom) {
    items[(firstPage + page) * params.pageRoom + place] = item;
  } else {
    spill(item);
  }
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
  lanes: Lanes,
) {
  let part = workgroup.y;
  firstPage = part * params.pagesOfPart;
  let end = min(partEnds[part], partEnds[PART_BINS + 2u + part]);
  let distinct = DISTINCT && partEnds[PART_BINS] != 0u;
  // parts that items were lost of have gaps, where anything may be
  if (partEnds[PART_BINS + 1u] != 0u) { atomicStore(&control.declined, 1u); }
  for (var first = partStarts[part] + workgroup.x * TILE; first < end; first += workgroups.x * TILE) {
    var item: array<Item, ITEMS>;
    var at: array<u32, ITEMS>;
    for (var i = 0u; i < ITEMS; i++) { item[i] = parts[min(first + i * WORKGROUP + local, end - 1u)]; }
    for (var bin = local; bin < BINS; bin += WORKGROUP) { atomicStore(&counts[bin], 0u); }
    if (local == 0u) {
      atomicStore(&packed, 0u);
      forgetRuns();
    }
    for (var i = local; i < SEEN && MERGES && distinct; i += WORKGROUP) {
      // what was merged is in its item by now
      atomicStore(&seen[i], 0u);
      atomicStore(&merged[i], bitcast<Value>(params.fill));
    }
    workgroupBarrier();
    for (var i = 0u; i < ITEMS; i++) {
      at[i] = NONE;
      if (first + i * WORKGROUP + local >= end || (distinct && isLeftOut(item[i]))) { continue; }
      at[i] = rankIn(binOf(item[i]));
    }
    workgroupBarrier();
    placeBins(local, lanes);
    let tile = tileNumber(part, partStarts[part], first);
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
