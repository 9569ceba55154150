// offsets: turns the counts of partitions into their places in the staging memory.
//
// One workgroup. Writes starts (partitions + 1 words) and cursors: where each partition's next item goes; whether the
// batch is skewed, that is whether some partition has more items than chance gives to distinct keys; how many items
// were lost (scatter counts them); and where the partitions' room ends. With SAMPLE n the counts are of every n-th
// block, and partitions have room for what chance may add to that.

const EACH: u32 = (BINS + WORKGROUP - 1u) / WORKGROUP;

/// Standard deviations from the mean that make a batch skewed.
const SKEWED: f32 = 4.0;
/// Standard deviations, and items, that a partition has room for beyond what the sample tells.
const DEVIATIONS: f32 = 6.0;
const SPARE: u32 = 256u;

var<workgroup> sums: array<u32, WORKGROUP>;
var<workgroup> most: atomic<u32>;
var<workgroup> all: atomic<u32>;

/// Items that a partition has room for.
fn roomFor(count: u32) -> u32 {
  if (SAMPLE == 1u) { return count; }
  return SAMPLE * count + u32(f32(SAMPLE) * DEVIATIONS * sqrt(f32(count))) + SPARE;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) local: u32) {
  var sum = 0u;
  for (var i = 0u; i < EACH; i++) {
    let bin = local * EACH + i;
    if (bin >= BINS) { break; }
    sum += roomFor(counts[bin]);
    atomicMax(&most, counts[bin]);
    atomicAdd(&all, counts[bin]);
  }
  sums[local] = sum;
  for (var reach = 1u; reach < WORKGROUP; reach *= 2u) {
    workgroupBarrier();
    var before = 0u;
    if (local >= reach) { before = sums[local - reach]; }
    workgroupBarrier();
    sums[local] += before;
  }
  var at = sums[local] - sum;
  for (var i = 0u; i < EACH; i++) {
    let bin = local * EACH + i;
    if (bin >= BINS) { break; }
    starts[bin] = at;
    cursors[bin] = at;
    at += roomFor(counts[bin]);
    cursors[BINS + 2u + bin] = at;
    if (bin < BINS - 1u) { continue; }
    starts[BINS] = at;
    let mean = f32(atomicLoad(&all)) / f32(params.partitions);
    cursors[BINS] = u32(f32(atomicLoad(&most)) > mean + SKEWED * sqrt(mean) + 8.0);
    cursors[BINS + 1u] = 0u;
  }
}
