// match-parts: the partner of every probe row. A fragment after part-table.wgsl.
//
// A workgroup owns a part of both sides: it puts the build rows into its table, and looks the probe rows up. Part
// params.first is the dispatch's first. Bytes per build row: 8 or 12 read; per probe row as many, those of a build row
// that fit the GPU's first cache, and 4 written at random.

@compute @workgroup_size(INVOCATIONS)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let number = workgroupOf(grid);
  if (number >= params.count || !buildTable(number, local)) { return; }
  for (var at = partRows.z + local; at < partRows.w; at += BATCH * INVOCATIONS) {
    let rows = rowsOf(at, partRows.w - 1u);
    let count = countOf(at, partRows.w);
    let places = placesOf(probeKeys(rows), count, partRows.x);
    for (var i = 0u; i < count; i++) {
      var partner = EMPTY;
      if (places[i] != EMPTY) { partner = buildItems[places[i]].y; }
      partners[items[rows[i]].y] = partner;
    }
  }
}
