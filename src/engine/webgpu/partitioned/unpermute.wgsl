// unpermute: brings results from the order of the partitions back to the order of the batch.
//
// A workgroup takes a tile of scatter's, WORKGROUP × ITEMS neighbouring elements, whose places scatter noted. Their
// results lie in runs, one or more a partition, so that reads of a tile share sectors. Owns its elements of the result
// columns; elements that were left out get missingFound() and 0, and so do (MARKED) those whose values begin with
// ABSENT, unless their flags tell that they were found after all. Bytes per element: 2.2 read for the place, those of a
// value read and written, 1 written and (not MARKED, or ambiguous) 1 read for a flag.

const TILE: u32 = WORKGROUP * ITEMS;
const FLAG_WORDS: u32 = TILE / 4u;

/// The flags of the tile, four a word.
var<workgroup> tileFlags: array<atomic<u32>, FLAG_WORDS>;
/// Values do not tell all keys that were found: those whose values are like absent ones'.
var<workgroup> ambiguous: bool;

/// True for an item that has a flag.
fn isFlagged(at: u32) -> bool {
  let bytes = itemFlags[select(at, 0u, at == NOWHERE) / 4u];
  return at != NOWHERE && ((bytes >> (at % 4u * 8u)) & 1u) != 0u;
}

fn setFlag(own: u32) { atomicOr(&tileFlags[own / 4u], 1u << (own % 4u * 8u)); }

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let number = workgroupOf(grid);
  let first = number * TILE;
  if (first >= params.count) { return; }
  if (MARKED && local == 0u) { ambiguous = params.flagged != 0u && atomicLoad(&control.ambiguous) != 0u; }
  let at = positionsOf(number, local);
  var value: array<Found, ITEMS>;
  if (VALUED || MARKED) {
    for (var i = 0u; i < ITEMS; i++) { value[i] = itemValues[select(at[i], 0u, at[i] == NOWHERE)]; }
  }
  var found: array<bool, ITEMS>;
  for (var i = 0u; i < ITEMS; i++) {
    if (MARKED) { found[i] = at[i] != NOWHERE && firstWord(value[i]) != ABSENT; } else { found[i] = FLAGGED && isFlagged(at[i]); }
  }
  for (var i = 0u; i < ITEMS; i++) {
    let own = i * WORKGROUP + local;
    if (first + own >= params.count) { continue; }
    if (at[i] == NOWHERE || (MARKED && !found[i])) { value[i] = missingFound(); }
    if (VALUED) { writeFound(first + own, value[i]); }
    if (FLAGGED && found[i]) { setFlag(own); }
  }
  if (MARKED && ambiguous) {
    for (var i = 0u; i < ITEMS; i++) {
      let own = i * WORKGROUP + local;
      if (first + own >= params.count || !isFlagged(at[i])) { continue; }
      if (VALUED) { writeFound(first + own, itemValues[at[i]]); }
      setFlag(own);
    }
  }
  if (FLAGGED) {
    workgroupBarrier();
    for (var word = local; word < FLAG_WORDS; word += WORKGROUP) {
      if (first + word * 4u < params.count) { flags[params.flagShift + first / 4u + word] = atomicLoad(&tileFlags[word]); }
    }
  }
}
