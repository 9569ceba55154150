// count-partners: counts the rows that have a partner, into control.rowsMatched. 256 invocations a workgroup, ITEMS
// rows each. Bytes per row: 4 read.

const ITEMS: u32 = 32u;
var<workgroup> matched: atomic<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let start = workgroupOf(grid) * WORKGROUP * ITEMS + local;
  var count = 0u;
  for (var i = 0u; i < ITEMS; i++) {
    let at = start + i * WORKGROUP;
    if (at < params.count && partners[params.first + at] != EMPTY) { count++; }
  }
  if (count > 0u) { atomicAdd(&matched, count); }
  workgroupBarrier();
  if (local == 0u) { atomicAdd(&control.rowsMatched, atomicLoad(&matched)); }
}
