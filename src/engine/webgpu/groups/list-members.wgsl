// group-rows: writes build rows group by group, so that a group is `sizes` rows from its start on.
// 256 invocations a workgroup, one row each. Owns its row's position. Bytes per row: 12 read, 4 written.

@group(0) @binding(1) var<storage, read> places: array<vec2u>;
@group(0) @binding(2) var<storage, read> groupStarts: array<u32>;
@group(0) @binding(3) var<storage, read_write> grouped: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let row = invocation(workgroup, workgroups, local);
  if (row >= params.count) { return; }
  let place = places[row];
  if (place.x != 0xffffffffu) { grouped[groupStarts[place.x] + place.y] = row; }
}
