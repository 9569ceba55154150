// gather: brings results from the order of the pages back to the order of the partitions.
//
// Workgroups (x, partition): the tiles that sub-partition made of a partition, whose places it noted. Elements that
// have none, or whose result is OPEN, are listed for look-ups that follow. Owns its elements of the values; shares the list. Bytes per element: 2.2 read for the place, those of a value read and written.

const TILE: u32 = WORKGROUP * ITEMS;

/// Lists an element, as leaveUnfinished does in batch.wgsl.
fn leaveOpen(element: u32) {
  if (atomicLoad(&control.unfinished) > params.fallbackRoom) { return; }
  let at = atomicAdd(&control.unfinished, 1u);
  if (at < params.fallbackRoom) { list[at] = vec2u(element, 0u); }
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let partitionIndex = grid.workgroup.y;
  let start = partitionStarts[partitionIndex];
  let end = min(partitionEnds[partitionIndex], partitionEnds[PARTITION_BINS + 2u + partitionIndex]);
  for (var first = start + grid.workgroup.x * TILE; first < end; first += grid.workgroups.x * TILE) {
    let at = positionsOf(tileNumber(partitionIndex, start, first), local);
    var value: array<Found, ITEMS>;
    for (var i = 0u; i < ITEMS; i++) { value[i] = results[select(at[i], 0u, at[i] == NOWHERE)]; }
    for (var i = 0u; i < ITEMS; i++) {
      let element = first + i * WORKGROUP + local;
      if (element >= end) { continue; }
      if (at[i] == NOWHERE || firstWord(value[i]) == OPEN) {
        leaveOpen(element);
      } else {
        values[element] = value[i];
      }
    }
    workgroupBarrier();
  }
}
