// survey-keys: counts rows by the upper bits of their mixed keys, and different keys of a sample: of those whose mixed keys end in SAMPLE_BITS
// zeros, each has a bit of `marks`. A fragment after rows.wgsl and hash.wgsl.
//
// 256 invocations a workgroup, params.items rows each, a multiple of BATCH. Shares: the counts, by addition; the marks, which are only set; the
// number of keys that found theirs unset; and whether a count is above params.most. Bytes per row: 4 read.

/// Bits of a key's place among the marks.
const MARK_BITS: u32 = 22u;
/// Rows whose keys an invocation loads at once.
const BATCH: u32 = 4u;
/// A workgroup's counts are half a word each. So many are handed on at once: a count stays below 128 × (WORKGROUP + 1), since an invocation hands on
/// what it has made full before it counts again.
const FULL: u32 = 128u;

var<workgroup> counts: array<atomic<u32>, BINS / 2u>;
var<workgroup> marked: atomic<u32>;

fn mark(mixed: u32) {
  let at = (mixed >> SAMPLE_BITS) & ((1u << MARK_BITS) - 1u);
  let bit = 1u << (at % 32u);
  if ((atomicLoad(&marks[at / 32u]) & bit) != 0u) { return; }
  if ((atomicOr(&marks[at / 32u], bit) & bit) == 0u) { atomicAdd(&marked, 1u); }
}

fn addToBin(bin: u32, count: u32) {
  let before = atomicAdd(&starts[bin], count);
  if (before <= params.most && before + count > params.most) { atomicStore(&control.keysUneven, 1u); }
}

fn countIn(bin: u32) {
  let shift = (bin & 1u) * 16u;
  let before = atomicAdd(&counts[bin / 2u], 1u << shift) >> shift;
  if (before % FULL == FULL - 1u) {
    atomicSub(&counts[bin / 2u], FULL << shift);
    addToBin(bin, FULL);
  }
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let start = (workgroup.y * workgroups.x + workgroup.x) * WORKGROUP * params.items + local;
  for (var i = 0u; i < params.items; i += BATCH) {
    let at = start + i * WORKGROUP;
    if (at >= params.count) { break; }
    var key: array<u32, BATCH>;
    for (var k = 0u; k < BATCH; k++) { key[k] = keys[params.first + min(at + k * WORKGROUP, params.count - 1u)]; }
    for (var k = 0u; k < BATCH; k++) {
      if (at + k * WORKGROUP >= params.count) { break; }
      // what lies under a null is some key as well
      let mixed = murmur3(key[k]);
      countIn(mixed >> (32u - BIN_BITS));
      if ((mixed & ((1u << SAMPLE_BITS) - 1u)) == 0u) { mark(mixed); }
    }
  }
  workgroupBarrier();
  for (var pair = local; pair < BINS / 2u; pair += WORKGROUP) {
    let both = atomicLoad(&counts[pair]);
    if ((both & 0xffffu) > 0u) { addToBin(2u * pair, both & 0xffffu); }
    if ((both >> 16u) > 0u) { addToBin(2u * pair + 1u, both >> 16u); }
  }
  let found = atomicLoad(&marked);
  if (local == 0u && found > 0u) { atomicAdd(&control.keysMarked, found); }
}
