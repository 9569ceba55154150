// survey-keys: counts rows by the upper bits of their mixed keys, and different keys of a sample: of those whose mixed keys end in SAMPLE_BITS
// zeros, each has a bit of `marks`. A fragment after keyed-rows.wgsl and key-slots.wgsl.
//
// 256 invocations a workgroup, params.items rows each. Shares: the counts, by addition; the marks, which are only set; and the number of keys that
// found theirs unset. Bytes per row: 4 read.

/// Bits of a key's place among the marks.
const MARK_BITS: u32 = 22u;

var<workgroup> counts: array<atomic<u32>, BINS>;
var<workgroup> marked: atomic<u32>;

fn mark(mixed: u32) {
  let at = (mixed >> SAMPLE_BITS) & ((1u << MARK_BITS) - 1u);
  let bit = 1u << (at % 32u);
  if ((atomicLoad(&marks[at / 32u]) & bit) != 0u) { return; }
  if ((atomicOr(&marks[at / 32u], bit) & bit) == 0u) { atomicAdd(&marked, 1u); }
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let start = (workgroup.y * workgroups.x + workgroup.x) * WORKGROUP * params.items + local;
  for (var i = 0u; i < params.items; i++) {
    let at = start + i * WORKGROUP;
    if (at >= params.count) { break; }
    // what lies under a null is some key as well
    let mixed = murmur3(keys[params.first + at]);
    atomicAdd(&counts[mixed >> (32u - BIN_BITS)], 1u);
    if ((mixed & ((1u << SAMPLE_BITS) - 1u)) == 0u) { mark(mixed); }
  }
  workgroupBarrier();
  for (var bin = local; bin < BINS; bin += WORKGROUP) {
    let count = atomicLoad(&counts[bin]);
    if (count > 0u) { atomicAdd(&starts[bin], count); }
  }
  let found = atomicLoad(&marked);
  if (local == 0u && found > 0u) { atomicAdd(&control.keysMarked, found); }
}
