// restore: brings results from the order of the parts back to the order of the batch.
//
// A workgroup takes a tile of scatter's, WORKGROUP × ITEMS neighbouring elements. Their results lie in one run a part,
// so that reads of a tile share sectors. Owns its elements of the result columns; elements that were left out by
// a mask get params.fill and 0. Bytes per element: 4 read for the place, 4 read and 4 written for a value, 1 and 1 for a flag.

override WORKGROUP: u32 = 512u;
override VALUED: bool = true;
override FLAGGED: bool = true;
override TILE: u32 = WORKGROUP * ITEMS;
override FLAG_WORDS: u32 = TILE / 4u;
/// The place of an element that was left out.
const NONE: u32 = 0xffffffffu;

@group(0) @binding(1) var<storage, read> places: array<u32>;
@group(0) @binding(2) var<storage, read> itemValues: array<u32>;
@group(0) @binding(3) var<storage, read> itemFlags: array<u32>;
@group(0) @binding(4) var<storage, read_write> values: array<u32>;
@group(0) @binding(5) var<storage, read_write> flags: array<u32>;

/// The flags of the tile, four a word.
var<workgroup> tileFlags: array<atomic<u32>, FLAG_WORDS>;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let first = (workgroup.y * workgroups.x + workgroup.x) * TILE;
  if (first >= params.count) { return; }
  var place: array<u32, ITEMS>;
  for (var i = 0u; i < ITEMS; i++) { place[i] = places[min(first + i * WORKGROUP + local, params.count - 1u)]; }
  if (VALUED) {
    var value: array<u32, ITEMS>;
    for (var i = 0u; i < ITEMS; i++) { value[i] = itemValues[select(place[i], 0u, place[i] == NONE)]; }
    for (var i = 0u; i < ITEMS; i++) {
      let element = first + i * WORKGROUP + local;
      if (element < params.count) { values[params.valueShift + element] = select(value[i], params.fill, place[i] == NONE); }
    }
  }
  if (FLAGGED) {
    var found: array<u32, ITEMS>;
    for (var i = 0u; i < ITEMS; i++) { found[i] = itemFlags[select(place[i], 0u, place[i] == NONE) / 4u]; }
    for (var i = 0u; i < ITEMS; i++) {
      let own = i * WORKGROUP + local;
      let flag = (found[i] >> (place[i] % 4u * 8u)) & 1u;
      if (flag != 0u && place[i] != NONE && first + own < params.count) { atomicOr(&tileFlags[own / 4u], 1u << (own % 4u * 8u)); }
    }
    workgroupBarrier();
    for (var word = local; word < FLAG_WORDS; word += WORKGROUP) {
      if (first + word * 4u < params.count) { flags[params.flagShift + first / 4u + word] = atomicLoad(&tileFlags[word]); }
    }
  }
}
