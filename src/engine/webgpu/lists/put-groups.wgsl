// put groups: writes the values of grouped items to the ends of their lists, after aim. 256 invocations a workgroup, which takes tiles
// of one page; owns its items' entries.
// Bytes an item: 12 read, 8 more for its group, which lies near; 4 written, near those of the tile's other items.

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let page = workgroup.y;
  let pageEnd = endOf(page);
  for (var first = beginOf(page) + workgroup.x * params.tile; first < pageEnd; first += workgroups.x * params.tile) {
    let base = tileGroups[tileNumber(page, first)];
    let end = min(first + params.tile, pageEnd);
    for (var at = first + local; at < end; at += WORKGROUP) {
      let place = places[at];
      let isAlone = place >= ALONE;
      let group = select(base + (place & GROUP_MASK), place & ~ALONE, isAlone);
      let rank = select(place >> GROUP_BITS, 0u, isAlone);
      let goal = targets[group];
      if (goal.y == NO_LIST) { continue; }
      if (rank < goal.y) { room[befores[group] + rank] = itemValue(items[at]); } else { room[goal.x + rank] = itemValue(items[at]); }
    }
  }
}
