// unpermute: brings results from the order of the partitions back to the order of the batch.
//
// A workgroup takes a tile of scatter's, WORKGROUP × ITEMS neighbouring elements, whose places scatter noted. Their
// results lie in runs, one or more a partition, so that reads of a tile share sectors. Owns its elements of the result
// columns; elements that were left out by a mask get missingFound() and 0. LOOKED_UP: flags tell which keys were found,
// and the flag of an item whose value is not missingFound() is not read. Bytes per element: 2.2 read for the place,
// those of a value read and written, 1 written and (unless the value tells it) 1 read for a flag.

const TILE: u32 = WORKGROUP * ITEMS;
const FLAG_WORDS: u32 = TILE / 4u;

/// The flags of the tile, four a word.
var<workgroup> tileFlags: array<atomic<u32>, FLAG_WORDS>;

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let number = workgroupOf(grid);
  let first = number * TILE;
  if (first >= params.count) { return; }
  let at = positionsOf(number, local);
  // the value tells that the key was found
  var told: array<bool, ITEMS>;
  if (VALUED) {
    var value: array<Found, ITEMS>;
    for (var i = 0u; i < ITEMS; i++) { value[i] = itemValues[select(at[i], 0u, at[i] == NOWHERE)]; }
    for (var i = 0u; i < ITEMS; i++) {
      let element = first + i * WORKGROUP + local;
      told[i] = LOOKED_UP && firstWord(value[i]) != firstWord(missingFound());
      if (element >= params.count) { continue; }
      if (at[i] == NOWHERE) { value[i] = missingFound(); }
      writeFound(element, value[i]);
    }
  }
  if (FLAGGED) {
    var found: array<u32, ITEMS>;
    for (var i = 0u; i < ITEMS; i++) {
      found[i] = 1u;
      if (!told[i]) { found[i] = itemFlags[select(at[i], 0u, at[i] == NOWHERE) / 4u] >> (at[i] % 4u * 8u); }
    }
    for (var i = 0u; i < ITEMS; i++) {
      let own = i * WORKGROUP + local;
      if ((found[i] & 1u) != 0u && at[i] != NOWHERE && first + own < params.count) { atomicOr(&tileFlags[own / 4u], 1u << (own % 4u * 8u)); }
    }
    workgroupBarrier();
    for (var word = local; word < FLAG_WORDS; word += WORKGROUP) {
      if (first + word * 4u < params.count) { flags[params.flagShift + first / 4u + word] = atomicLoad(&tileFlags[word]); }
    }
  }
}
