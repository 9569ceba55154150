// pad: fills the room that a sample gave parts beyond their items, so that all of the column (params.count) can be looked up.
//
// A workgroup for each part. It copies a key of its own part, or of the nearest part that has any, below rather than above: the
// column stays in the order of the parts, and looking copies up is local and finds what nobody reads.
// Owns what lies between its part's items and those of the next. Bytes per element of room: 4 written.

override WORKGROUP: u32 = 256u;
override BINS: u32 = 256u;

@group(0) @binding(1) var<storage, read> starts: array<u32>;
/// scatter's cursors, where the parts' items end; and where their room ends.
@group(0) @binding(2) var<storage, read> ends: array<u32>;
@group(0) @binding(3) var<storage, read_write> keys: array<u32>;

fn isEmpty(part: u32) -> bool { return ends[part] == starts[part]; }

/// The nearest part with items.
fn nearest(part: u32) -> u32 {
  var near = part;
  while (near > 0u && isEmpty(near)) { near--; }
  while (near < params.parts - 1u && isEmpty(near)) { near++; }
  return near;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) local: u32) {
  let part = workgroup.x;
  if (part >= params.parts) { return; }
  let key = keys[starts[nearest(part)]];
  let end = select(ends[BINS + 2u + part], params.count, part == params.parts - 1u);
  for (var at = ends[part] + local; at < end; at += WORKGROUP) { keys[at] = key; }
}
