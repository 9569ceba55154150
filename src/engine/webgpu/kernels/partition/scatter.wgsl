// scatter: puts the chunk's elements in the order of their parts (multisplit, first level).
//
// A workgroup takes a tile of WORKGROUP × ITEMS elements, ranks them by part with counters in workgroup memory, takes
// room for each part's run with one atomic addition, and writes the runs through workgroup memory, so that neighbouring
// invocations write neighbouring items. Exact under any skew: places come from the histogram.
// Owns its tile's places; shares the cursors. The order inside a part is that in which tiles get there.
// Bytes per element: 4 read and 4 written (pairs: 8 and 8), 4 more written with PLACED.

override WORKGROUP: u32 = 512u;
override BINS: u32 = 256u;
override MASKED: bool = false;
/// Write each element's place, so that results can be brought back to input order.
override PLACED: bool = false;
/// Items have the element's value.
override VALUED: bool = false;
override TILE: u32 = WORKGROUP * ITEMS;
/// Stands for "no element here".
const NONE: u32 = 0xffffffffu;

@group(0) @binding(2) var<storage, read> keys: array<u32>;
@group(0) @binding(3) var<storage, read> values: array<u32>;
@group(0) @binding(4) var<storage, read> mask: array<u32>;
@group(0) @binding(1) var<storage, read_write> cursors: array<atomic<u32>>;
@group(0) @binding(7) var<storage, read_write> places: array<u32>;

var<workgroup> counts: array<atomic<u32>, BINS>;
var<workgroup> starts: array<u32, BINS>;
/// Where a part's run goes, less its start in the tile.
var<workgroup> bases: array<u32, BINS>;
var<workgroup> tile: array<Item, TILE>;

fn isSelected(element: u32) -> bool {
  if (element >= params.count) { return false; }
  if (!MASKED) { return true; }
  return ((mask[params.maskShift + element / 4u] >> (element % 4u * 8u)) & 0xffu) != 0u;
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
  var key: array<u32, ITEMS>;
  // part in the upper half, rank within the tile's run in the lower
  var rank: array<u32, ITEMS>;
  for (var i = 0u; i < ITEMS; i++) {
    key[i] = keys[params.keyShift + min(first + i * WORKGROUP + local, params.count - 1u)];
  }
  for (var i = 0u; i < ITEMS; i++) {
    rank[i] = NONE;
    if (isSelected(first + i * WORKGROUP + local)) {
      key[i] = canonicalKey(key[i]);
      let part = partOf(key[i]);
      rank[i] = (part << 16u) | atomicAdd(&counts[part], 1u);
    }
  }
  workgroupBarrier();
  packCounts(local, lanes);
  // each invocation reads the starts that it wrote
  for (var bin = local; bin < BINS; bin += WORKGROUP) {
    let count = atomicLoad(&counts[bin]);
    if (count > 0u) { bases[bin] = atomicAdd(&cursors[bin], count) - starts[bin]; }
  }
  workgroupBarrier();
  for (var i = 0u; i < ITEMS; i++) {
    let element = first + i * WORKGROUP + local;
    var place = NONE;
    if (rank[i] != NONE) {
      let part = rank[i] >> 16u;
      let at = starts[part] + (rank[i] & 0xffffu);
      var value = 0u;
      if (VALUED) { value = values[params.valueShift + element]; }
      tile[at] = makeItem(key[i], value);
      place = bases[part] + at;
    }
    if (PLACED && element < params.count) { places[element] = place; }
  }
  workgroupBarrier();
  for (var i = 0u; i < ITEMS; i++) {
    let at = i * WORKGROUP + local;
    if (at < atomicLoad(&packed)) {
      let item = tile[at];
      putItem(bases[partOf(itemKey(item))] + at, item);
    }
  }
}
