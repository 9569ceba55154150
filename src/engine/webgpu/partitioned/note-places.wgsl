// Noting where the items of a tile go. A fragment after places.wgsl and tile.wgsl, for modules with runAt (where a run
// of a bin lies) and fits (whether there was room for an item of a bin).

/// Runs beyond the first ones of their bins. 0 before noteRuns.
var<workgroup> furtherRuns: atomic<u32>;

/// Before another tile is counted. By one invocation.
fn forgetRuns() { atomicStore(&furtherRuns, 0u); }

/// Notes where the runs of a tile lie, after placeBins: an invocation those of the bins that it has placed. Then
/// `counts` tells which runs a bin has beyond its first.
fn noteRuns(tile: u32, local: u32) {
  let runs = tile * RECORD + HALF;
  for (var bin = local; bin < BINS; bin += WORKGROUP) {
    let count = atomicLoad(&counts[bin]);
    if (count == 0u) { continue; }
    let first = runAt(bin, bases[bin] + starts[bin]);
    places[runs + bin] = first;
    let further = (count - 1u) / RUN;
    if (further == 0u) { continue; }
    let number = BINS + atomicAdd(&furtherRuns, further);
    for (var i = 0u; i < further; i++) { places[runs + number + i] = first + (i + 1u) * RUN; }
    atomicStore(&counts[bin], number - 1u);
  }
}

/// The place of an item that rankIn has counted; of none when it is NONE, or there was no room.
fn notedPlace(rank: u32) -> u32 {
  if (rank == NONE) { return NO_PLACE; }
  let bin = rank >> 16u;
  let at = rank & 0xffffu;
  if (!fits(bin, at)) { return NO_PLACE; }
  if (at < RUN) { return bin * RUN + at; }
  return (atomicLoad(&counts[bin]) + at / RUN) * RUN + at % RUN;
}

/// Notes the places of a tile's items, which rankIn has counted. After noteRuns and a barrier.
fn notePlaces(tile: u32, local: u32, rank: ptr<function, array<u32, ITEMS>>) {
  for (var i = 0u; i < ITEMS / 2u; i++) {
    places[tile * RECORD + i * WORKGROUP + local] = notedPlace((*rank)[i]) | (notedPlace((*rank)[i + ITEMS / 2u]) << 16u);
  }
}
