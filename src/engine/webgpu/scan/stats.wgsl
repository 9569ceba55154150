// stats: counts entries, tombstones and probe lengths of one window of the table, which may be the whole.
//
// Workgroups of 256, grid-stride; the histogram is gathered in workgroup memory first. Reads the table only.
// Bytes per slot: 8 read (sets: 4).

/// Counts of all workgroups. The sum of probe lengths has 64 bits.
struct Statistics {
  live: atomic<u32>,
  tombstones: atomic<u32>,
  longest: atomic<u32>,
  sumLow: atomic<u32>,
  sumHigh: atomic<u32>,
  lengths: array<atomic<u32>, BINS>,
}

/// PROBE_HISTOGRAM of engine.ts.
const BINS: u32 = 256u;
const WORKGROUP: u32 = 256u;

var<workgroup> lengths: array<atomic<u32>, BINS>;
var<private> mySum: vec2u;
var<private> myLongest: u32;
var<private> myTombstones: u32;

fn countEntry(length: u32) {
  atomicAdd(&lengths[min(length, BINS) - 1u], 1u);
  myLongest = max(myLongest, length);
  let low = mySum.x + length;
  mySum = vec2u(low, mySum.y + u32(low < length));
}

/// Counts slot `index` of the table, whose key word is `word`.
fn countSlot(index: u32, word: u32) {
  if (index >= params.slots) {
    if (word == SIDE_PRESENT) { countEntry(1u); }
    return;
  }
  if (word == TOMBSTONE) { myTombstones++; }
  if (word >= TOMBSTONE) { return; }
  let home = homeOfState(word);
  countEntry(1u + select(index - home, index + (params.slots - home), index < home));
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
  let stride = grid.workgroups.x * WORKGROUP;
  for (var index = id.x; index < params.count; index += stride) {
    countSlot(params.windowFirst + index, stateIn(table[index]));
  }
  if (myTombstones > 0u) { atomicAdd(&statistics.tombstones, myTombstones); }
  if (myLongest > atomicLoad(&statistics.longest)) { atomicMax(&statistics.longest, myLongest); }
  let before = atomicAdd(&statistics.sumLow, mySum.x);
  let carry = u32(before + mySum.x < before);
  if (mySum.y + carry > 0u) { atomicAdd(&statistics.sumHigh, mySum.y + carry); }
  workgroupBarrier();
  let count = atomicLoad(&lengths[local]);
  if (count > 0u) {
    atomicAdd(&statistics.lengths[local], count);
    atomicAdd(&statistics.live, count);
  }
}
