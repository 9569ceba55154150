// Reading where the items of a tile went, which note-places.wgsl has noted. A fragment after places.wgsl, for modules
// with the binding `places`.

/// In place of where an item is that went nowhere.
const NOWHERE: u32 = 0xffffffffu;

/// Where the runs of the tile lie.
var<workgroup> runs: array<u32, RUNS>;

/// Where the invocation's items of a tile are, or NOWHERE. By all invocations of a workgroup; between two
/// calls there has to be a barrier.
fn positionsOf(tile: u32, local: u32) -> array<u32, ITEMS> {
  let record = tile * RECORD;
  var two: array<u32, ITEMS / 2u>;
  for (var i = 0u; i < ITEMS / 2u; i++) { two[i] = places[record + i * WORKGROUP + local]; }
  for (var run = local; run < RUNS; run += WORKGROUP) { runs[run] = places[record + HALF + run]; }
  workgroupBarrier();
  var at: array<u32, ITEMS>;
  for (var i = 0u; i < ITEMS; i++) {
    let place = (two[i % (ITEMS / 2u)] >> select(0u, 16u, i >= ITEMS / 2u)) & 0xffffu;
    at[i] = select(runs[place / RUN] + place % RUN, NOWHERE, place == NO_PLACE);
  }
  return at;
}
