// gather: brings results from the order of the pages back to the order of the partitions.
//
// Workgroups (x, partition): the tiles that sub-partition made of a partition, whose places it noted. Elements that
// have none, or whose result is OPEN, are listed for look-ups that follow. Owns its elements of the values; shares the
// list, and the flags, which are zero before: with values, only those of keys that were found with the value of absent
// ones are set, since unpermute looks at no others. Bytes per element: 2.2 read for the place, those of a value read and
// written, 1 written for a flag unless the value tells it.

const TILE: u32 = WORKGROUP * ITEMS;
/// Words of flags that a tile's elements lie in: a tile may begin and end within one.
const FLAG_WORDS: u32 = TILE / 4u + 1u;

/// The flags of the tile, four a word.
var<workgroup> tileFlags: array<atomic<u32>, FLAG_WORDS>;

/// Lists an element, as leaveUnfinished does in batch.wgsl.
fn leaveOpen(element: u32) {
  if (atomicLoad(&control.unfinished) > params.fallbackRoom) { return; }
  let at = atomicAdd(&control.unfinished, 1u);
  if (at < params.fallbackRoom) { list[at] = vec2u(element, 0u); }
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let partitionIndex = grid.workgroup.y;
  let missing = firstWord(missingFound());
  let start = partitionStarts[partitionIndex];
  let end = min(partitionEnds[partitionIndex], partitionEnds[PARTITION_BINS + 2u + partitionIndex]);
  for (var first = start + grid.workgroup.x * TILE; first < end; first += grid.workgroups.x * TILE) {
    for (var word = local; FLAGGED && word < FLAG_WORDS; word += WORKGROUP) { atomicStore(&tileFlags[word], 0u); }
    let flagWord = first / 4u;
    let at = positionsOf(tileNumber(partitionIndex, start, first), local);
    var value: array<Found, ITEMS>;
    for (var i = 0u; i < ITEMS; i++) { value[i] = results[select(at[i], 0u, at[i] == NOWHERE)]; }
    for (var i = 0u; i < ITEMS; i++) {
      let element = first + i * WORKGROUP + local;
      if (element >= end) { continue; }
      let word = firstWord(value[i]);
      if (at[i] == NOWHERE || word == OPEN) {
        leaveOpen(element);
        continue;
      }
      if (word == ABSENT) { value[i] = missingFound(); }
      if (VALUED) { writeFound(element, value[i]); }
      if (FLAGGED && word != ABSENT && (!VALUED || word == missing)) { atomicOr(&tileFlags[element / 4u - flagWord], 1u << (element % 4u * 8u)); }
    }
    workgroupBarrier();
    for (var word = local; FLAGGED && word < FLAG_WORDS; word += WORKGROUP) {
      let bytes = atomicLoad(&tileFlags[word]);
      if (bytes != 0u) { atomicOr(&flags[flagWord + word], bytes); }
    }
  }
}
