// mark-chosen: writes a byte an element: 1 for the one of each key that choose.wgsl has found. Counts the elements that
// the mask selects. 256 invocations a workgroup, one word of four elements each, which it owns. Reads the table at
// random, 4 bytes an element.

var<workgroup> selected: atomic<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let at = (workgroupOf(grid) * WORKGROUP + local) * ITEMS;
  var bytes = 0u;
  var mine = 0u;
  for (var i = 0u; i < ITEMS && at + i < params.count; i++) {
    let element = params.first + at + i;
    if (!isSelected(element)) { continue; }
    mine++;
    bytes |= u32(table[places[element]] == numberOf(element)) << (i * 8u);
  }
  if (at < params.count) { chosen[(params.first + at) / 4u] = bytes; }
  atomicAdd(&selected, mine);
  workgroupBarrier();
  if (local == 0u) { atomicAdd(&control.selected, atomicLoad(&selected)); }
}
