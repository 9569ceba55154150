// restore: brings results from the order of the parts back to the order of the batch.
//
// A workgroup takes a tile of WORKGROUP × ITEMS neighbouring elements. Their results lie in runs, one a part and tile of
// scatter, so that reads of a tile share sectors. Owns its elements of the result columns; elements that were left out by
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

fn flagOf(element: u32) -> u32 {
  if (element >= params.count) { return 0u; }
  let place = places[element];
  if (place == NONE) { return 0u; }
  return (itemFlags[place / 4u] >> (place % 4u * 8u)) & 1u;
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let first = (workgroup.y * workgroups.x + workgroup.x) * TILE;
  if (VALUED) {
    var place: array<u32, ITEMS>;
    for (var i = 0u; i < ITEMS; i++) { place[i] = places[min(first + i * WORKGROUP + local, params.count - 1u)]; }
    for (var i = 0u; i < ITEMS; i++) {
      let element = first + i * WORKGROUP + local;
      if (element >= params.count) { continue; }
      var value = params.fill;
      if (place[i] != NONE) { value = itemValues[place[i]]; }
      values[params.valueShift + element] = value;
    }
  }
  if (FLAGGED) {
    for (var word = local; word < FLAG_WORDS; word += WORKGROUP) {
      let element = first + word * 4u;
      if (element < params.count) {
        flags[params.flagShift + element / 4u] =
          flagOf(element) | (flagOf(element + 1u) << 8u) | (flagOf(element + 2u) << 16u) | (flagOf(element + 3u) << 24u);
      }
    }
  }
}
