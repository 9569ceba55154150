// select-rows: lists the rows that have a partner, and their partners; or those that have none. The order is
// unspecified. A fragment after partner-listed.wgsl or partner-placed.wgsl. 256 invocations a workgroup, four rows
// each; a workgroup takes room with one addition. `total` is what was counted before this list. COUNTED: where
// control.rowsMatched is `whole`, all rows have a partner, and none is listed. Bytes per row: what its partner takes;
// per listed row 4 or 8 written.

const ITEMS: u32 = 4u;
var<workgroup> selected: atomic<u32>;
var<workgroup> base: u32;

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let start = workgroupOf(grid) * WORKGROUP * ITEMS + local;
  let isWhole = COUNTED && atomicLoad(&control.rowsMatched) == params.whole;
  let end = select(params.count, 0u, isWhole);
  var mine: array<u32, ITEMS>;
  var count = 0u;
  for (var i = 0u; i < ITEMS; i++) {
    let at = start + i * WORKGROUP;
    mine[i] = EMPTY;
    if (at < end) { mine[i] = partnerAt(params.first + at); }
    if (at < end && (mine[i] != EMPTY) == MATCHED) { count++; }
  }
  var rank = 0u;
  if (count > 0u) { rank = atomicAdd(&selected, count); }
  workgroupBarrier();
  if (local == 0u && atomicLoad(&selected) > 0u) { base = atomicAdd(&control.totalLow, atomicLoad(&selected)); }
  workgroupBarrier();
  var out = base - params.total + rank;
  for (var i = 0u; i < ITEMS; i++) {
    let at = start + i * WORKGROUP;
    if (at >= end || (mine[i] != EMPTY) != MATCHED) { continue; }
    outRows[out] = params.first + at;
    if (WITH_PARTNERS) { outPartners[out] = mine[i]; }
    out++;
  }
}
