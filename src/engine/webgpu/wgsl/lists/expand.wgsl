// expand: writes the entries of located lists, however unevenly they fall on the elements. A workgroup owns 1,024
// neighbouring entries of the result, whatever lists they are of.
//
// 256 invocations a workgroup, four entries each. Two of them search all offsets for the elements of the workgroup's
// first and last entry; the offsets between are then in workgroup memory, where each entry is searched for. Only where
// more than 2,048 elements lie between, most of them without entries, entries are searched for among all of those.
// Bytes an entry: offsets and places once an element, a value read (neighbours in a list are neighbours in memory),
// results written.

const ENTRIES: u32 = 4u;
const KEPT: u32 = 2048u;
var<workgroup> ends: array<u32, 2>;
var<workgroup> kept: array<u32, KEPT>;

/// The last of the elements low .. high that begins at or before an entry; the first one does.
fn elementOf(entry: u32, from_: u32, to: u32) -> u32 {
  var low = from_;
  var high = to;
  for (var step = 0u; step < 32u; step++) {
    if (low >= high) { break; }
    let middle = high - (high - low) / 2u;
    if (offsets[middle] <= entry) { low = middle; } else { high = middle - 1u; }
  }
  return low;
}

/// The same in workgroup memory, of `count` offsets.
fn keptElementOf(entry: u32, count: u32) -> u32 {
  var low = 0u;
  var high = count - 1u;
  for (var step = 0u; step < 12u; step++) {
    if (low >= high) { break; }
    let middle = high - (high - low) / 2u;
    if (kept[middle] <= entry) { low = middle; } else { high = middle - 1u; }
  }
  return low;
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let tile = workgroupOf(grid) * WORKGROUP * ENTRIES;
  let tileEnd = min(tile + WORKGROUP * ENTRIES, params.count);
  if (local < 2u && tile < params.count) {
    ends[local] = elementOf(params.first + select(tile, tileEnd - 1u, local == 1u), 0u, params.total - 1u);
  }
  workgroupBarrier();
  let low = ends[0];
  let count = ends[1] - low + 1u;
  let isKept = count <= KEPT;
  if (isKept && tile < params.count) {
    for (var i = local; i < count; i += WORKGROUP) { kept[i] = offsets[low + i]; }
  }
  workgroupBarrier();
  for (var i = 0u; i < ENTRIES; i++) {
    let at = tile + i * WORKGROUP + local;
    if (at >= tileEnd) { break; }
    let entry = params.first + at;
    var element = 0u;
    if (isKept) { element = low + keptElementOf(entry, count); } else { element = elementOf(entry, low, low + count - 1u); }
    if (QUERIES) { outQueries[params.flagsShift + at] = element; }
    let place = places[element];
    for (var word = 0u; word < KEY_WORDS; word++) {
      var key = select(params.missingLow, params.missingHigh, word == 1u);
      if (place != MISSING) { key = stored(keys[params.keysShift + element * KEY_WORDS + word]); }
      outKeys[params.keysOutShift + at * KEY_WORDS + word] = key;
    }
    if (VALUE_WORDS == 0u) { continue; }
    var address = 0u;
    if (place != MISSING) { address = addressOf(place, entry - offsets[element]); }
    for (var word = 0u; word < VALUE_WORDS; word++) {
      var value = select(params.missingLow, params.missingHigh, word == 1u);
      if (place != MISSING) { value = room[address * VALUE_WORDS + word]; }
      outValues[params.outShift + at * VALUE_WORDS + word] = value;
    }
  }
}
