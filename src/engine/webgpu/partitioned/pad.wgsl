// pad: fills the room that a sample gave partitions beyond their items, so that all of the column (params.count) can be looked up.
//
// A workgroup for each partition. It copies a key of its own partition, or of the nearest partition that has any, below rather than above: the
// column stays in the order of the partitions, and looking copies up is local and finds what nobody reads.
// Owns what lies between its partition's items and those of the next. Bytes per element of room: 4 written.

fn isEmpty(partitionIndex: u32) -> bool { return ends[partitionIndex] == starts[partitionIndex]; }

/// The nearest partition with items.
fn nearest(partitionIndex: u32) -> u32 {
  var near = partitionIndex;
  while (near > 0u && isEmpty(near)) { near--; }
  while (near < params.partitions - 1u && isEmpty(near)) { near++; }
  return near;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) local: u32) {
  let partitionIndex = workgroup.x;
  if (partitionIndex >= params.partitions) { return; }
  let key = keys[starts[nearest(partitionIndex)]];
  let end = select(ends[BINS + 2u + partitionIndex], params.count, partitionIndex == params.partitions - 1u);
  for (var at = ends[partitionIndex] + local; at < end; at += WORKGROUP) { keys[at] = key; }
}
