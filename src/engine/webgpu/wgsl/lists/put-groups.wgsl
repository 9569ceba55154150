// put groups: writes the values of grouped items to the ends of their lists, after aim. 256 invocations a workgroup,
// which takes tiles of one page; owns its items' entries. Bytes an item: 12 read, 8 more for its group, which lies
// near; 4 written, near those of the tile's other items.

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let page = grid.workgroup.y;
  let pageEnd = endOf(page);
  for (var first = beginOf(page) + grid.workgroup.x * params.tile; first < pageEnd; first += grid.workgroups.x * params.tile) {
    let base = tileGroups[tileNumber(page, first)];
    let end = min(first + params.tile, pageEnd);
    for (var start = first + local; start < end; start += WORKGROUP * EACH) {
      var place: array<u32, EACH>;
      for (var i = 0u; i < EACH; i++) { place[i] = places[min(start + i * WORKGROUP, end - 1u)]; }
      var group: array<u32, EACH>;
      var goal: array<vec2u, EACH>;
      for (var i = 0u; i < EACH; i++) {
        let isAlone = place[i] >= ALONE;
        group[i] = select(base + (place[i] & GROUP_MASK), place[i] & ~ALONE, isAlone);
        if (isAlone) { place[i] = 0u; }
        goal[i] = targets[group[i]];
      }
      for (var i = 0u; i < EACH; i++) {
        let at = start + i * WORKGROUP;
        if (at >= end || goal[i].y == NO_LIST) { continue; }
        let rank = place[i] >> GROUP_BITS;
        var address = goal[i].x + rank;
        if (rank < goal[i].y) { address = befores[group[i]] + rank; }
        room[address] = itemValue(items[at]);
      }
    }
  }
}
