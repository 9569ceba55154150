// offsets: turns the counts of parts into their places in the staging memory.
//
// One workgroup. Writes starts (parts + 1 words) and cursors (a copy that scatter moves forward).

override WORKGROUP: u32 = 256u;
override BINS: u32 = 256u;
override EACH: u32 = (BINS + WORKGROUP - 1u) / WORKGROUP;

@group(0) @binding(2) var<storage, read> counts: array<u32>;
@group(0) @binding(3) var<storage, read_write> starts: array<u32>;
@group(0) @binding(4) var<storage, read_write> cursors: array<u32>;

var<workgroup> sums: array<u32, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) local: u32) {
  var sum = 0u;
  for (var i = 0u; i < EACH; i++) {
    let bin = local * EACH + i;
    if (bin < BINS) { sum += counts[bin]; }
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
    if (bin == BINS - 1u) { starts[BINS] = at; }
  }
}
