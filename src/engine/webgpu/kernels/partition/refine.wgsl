// refine: splits every part into pages of neighbouring slots (multisplit, second level).
//
// Workgroups (x, part): tiles of one part each, as in scatter. A page's items are staged at page × pageRoom; what a page has no
// room for is spilled. What becomes of an item on the way is takeItem's to say.
// Shares the pages' cursors. Bytes per item: 4 read and 4 written (pairs: 8 and 8; numbered: 4 and 8).

override WORKGROUP: u32 = 512u;
/// Counters: at least as many as a part has pages.
override BINS: u32 = 256u;
override PAGE_SHIFT: u32 = 12u;
override TILE: u32 = WORKGROUP * ITEMS;

@group(0) @binding(2) var<storage, read> parts: array<Given>;
@group(0) @binding(3) var<storage, read> partStarts: array<u32>;
@group(0) @binding(4) var<storage, read_write> cursors: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> items: array<Item>;

var<workgroup> counts: array<atomic<u32>, BINS>;
var<workgroup> starts: array<u32, BINS>;
/// How many items a page has already, less its start in the tile.
var<workgroup> bases: array<u32, BINS>;
var<workgroup> tile: array<Item, TILE>;

/// Keys that live in side slots go to the first page of their part, which spills them.
fn pageWithinPart(item: Item) -> u32 {
  let page = (homeOf(itemKey(item)) >> PAGE_SHIFT) & (params.pagesOfPart - 1u);
  return select(page, 0u, itemKey(item) >= TOMBSTONE);
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
  lanes: Lanes,
) {
  let part = workgroup.y;
  let end = partStarts[part + 1u];
  for (var first = partStarts[part] + workgroup.x * TILE; first < end; first += workgroups.x * TILE) {
    let count = min(TILE, end - first);
    for (var bin = local; bin < BINS; bin += WORKGROUP) { atomicStore(&counts[bin], 0u); }
    if (local == 0u) { atomicStore(&packed, 0u); }
    workgroupBarrier();
    var item: array<Item, ITEMS>;
    var rank: array<u32, ITEMS>;
    for (var i = 0u; i < ITEMS; i++) {
      let at = min(first + i * WORKGROUP + local, end - 1u);
      item[i] = takeItem(parts[at], at);
    }
    for (var i = 0u; i < ITEMS; i++) {
      let page = pageWithinPart(item[i]);
      rank[i] = page << 16u;
      if (i * WORKGROUP + local < count) { rank[i] |= atomicAdd(&counts[page], 1u); }
    }
    workgroupBarrier();
    packCounts(local, lanes);
    for (var bin = local; bin < BINS; bin += WORKGROUP) {
      let more = atomicLoad(&counts[bin]);
      if (more > 0u) { bases[bin] = atomicAdd(&cursors[part * params.pagesOfPart + bin], more) - starts[bin]; }
    }
    workgroupBarrier();
    for (var i = 0u; i < ITEMS; i++) {
      if (i * WORKGROUP + local < count) { tile[starts[rank[i] >> 16u] + (rank[i] & 0xffffu)] = item[i]; }
    }
    workgroupBarrier();
    for (var i = 0u; i < ITEMS; i++) {
      let at = i * WORKGROUP + local;
      if (at < count) {
        let page = pageWithinPart(tile[at]);
        let place = bases[page] + at;
        if (place < params.pageRoom) {
          items[(part * params.pagesOfPart + page) * params.pageRoom + place] = tile[at];
        } else {
          spill(tile[at]);
        }
      }
    }
    workgroupBarrier();
  }
}
