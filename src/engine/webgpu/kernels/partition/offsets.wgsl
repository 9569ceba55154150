// offsets: turns the counts of parts into their places in the staging memory.
//
// One workgroup. Writes starts (parts + 1 words) and cursors (a copy that scatter moves forward; behind it, whether the batch is skewed:
// 1 when some part has more items than chance gives to distinct keys).

override WORKGROUP: u32 = 256u;
override BINS: u32 = 256u;
override EACH: u32 = (BINS + WORKGROUP - 1u) / WORKGROUP;

@group(0) @binding(2) var<storage, read> counts: array<u32>;
@group(0) @binding(3) var<storage, read_write> starts: array<u32>;
@group(0) @binding(4) var<storage, read_write> cursors: array<u32>;

/// Standard deviations from the mean that make a batch skewed.
const DEVIATIONS: f32 = 5.0;

var<workgroup> sums: array<u32, WORKGROUP>;
var<workgroup> most: atomic<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) local: u32) {
  var sum = 0u;
  for (var i = 0u; i < EACH; i++) {
    let bin = local * EACH + i;
    if (bin >= BINS) { break; }
    sum += counts[bin];
    atomicMax(&most, counts[bin]);
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
    at += counts[bin];
    if (bin < BINS - 1u) { continue; }
    starts[BINS] = at;
    let mean = f32(at) / f32(params.parts);
    cursors[BINS] = u32(f32(atomicLoad(&most)) > mean + DEVIATIONS * sqrt(mean) + 8.0);
  }
}
