// survey-keys: counts rows by the upper bits of their mixed keys, and different keys of a sample: of those whose mixed
// keys end in SAMPLE_BITS zeros, each has a bit of `marks`. A fragment after mixed-key.wgsl.
//
// INVOCATIONS a workgroup, params.items rows each, a multiple of BATCH. Shares: the counts, by addition; the marks,
// which are only set; the number of keys that found theirs unset; and whether a count is above params.most: counts are
// to no purpose then. Does nothing where params.phase is 1 and count-keys has found a slot for every group. Bytes per
// row: 4 read.

/// Bits of a key's place among the marks.
const MARK_BITS: u32 = 22u;
/// Rows whose keys an invocation loads at once.
const BATCH: u32 = 4u;
/// A workgroup's counts are half a word each. So many are handed on at once: a count stays below FULL × (INVOCATIONS ×
/// BATCH + 1), since an invocation hands on what it has made full before it counts the next batch.
const FULL: u32 = min(31u, 0xffffu / (INVOCATIONS * BATCH + 1u));

var<workgroup> counts: array<atomic<u32>, BINS / 2u>;
var<workgroup> marked: atomic<u32>;
var<workgroup> isAsked: u32;
var<workgroup> isUneven: atomic<u32>;

fn mark(mixed: u32) {
  let at = (mixed >> SAMPLE_BITS) & ((1u << MARK_BITS) - 1u);
  let bit = 1u << (at % 32u);
  if ((atomicLoad(&marks[at / 32u]) & bit) != 0u) { return; }
  if ((atomicOr(&marks[at / 32u], bit) & bit) == 0u) { atomicAdd(&marked, 1u); }
}

fn addToBin(bin: u32, count: u32) {
  if (atomicAdd(&starts[bin], count) + count <= params.most) { return; }
  atomicStore(&isUneven, 1u);
  atomicStore(&control.keysUneven, 1u);
}

/// The same within the workgroup. What its bin's count was.
fn countIn(mixed: u32) -> u32 {
  let bin = mixed >> (32u - BIN_BITS);
  let shift = (bin & 1u) * 16u;
  return extractBits(atomicAdd(&counts[bin / 2u], 1u << shift), shift, 16u) % FULL;
}

fn handOn(mixed: u32) {
  let bin = mixed >> (32u - BIN_BITS);
  atomicSub(&counts[bin / 2u], FULL << ((bin & 1u) * 16u));
  addToBin(bin, FULL);
}

fn isSampled(mixed: vec4u) -> vec4<bool> { return (mixed & vec4u((1u << SAMPLE_BITS) - 1u)) == vec4u(0u); }

fn mixedAt(at: u32) -> u32 { return mixedKey(params.first + min(at, params.count - 1u)); }

@compute @workgroup_size(INVOCATIONS)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  if (local == 0u) { isAsked = u32(params.phase == 0u || atomicLoad(&control.keysLeft) != 0u); }
  if (workgroupUniformLoad(&isAsked) == 0u) { return; }
  let start = workgroupOf(grid) * INVOCATIONS * params.items + local;
  for (var i = 0u; i < params.items; i += BATCH) {
    let at = start + i * INVOCATIONS;
    if (at >= params.count || atomicLoad(&isUneven) != 0u) { break; }
    // what lies under a null is some key as well
    let mixed = vec4u(mixedAt(at), mixedAt(at + INVOCATIONS), mixedAt(at + 2u * INVOCATIONS), mixedAt(at + 3u * INVOCATIONS));
    let rows = (params.count - at - 1u) / INVOCATIONS;
    var before = vec4u(0u);
    before.x = countIn(mixed.x);
    if (rows >= 1u) { before.y = countIn(mixed.y); }
    if (rows >= 2u) { before.z = countIn(mixed.z); }
    if (rows >= 3u) { before.w = countIn(mixed.w); }
    if (any(before == vec4u(FULL - 1u))) {
      for (var k = 0u; k < BATCH; k++) {
        if (before[k] == FULL - 1u) { handOn(mixed[k]); }
      }
    }
    // the last key again where there are less
    if (any(isSampled(mixed))) {
      for (var k = 0u; k < BATCH; k++) {
        if (isSampled(mixed)[k]) { mark(mixed[k]); }
      }
    }
  }
  workgroupBarrier();
  for (var pair = local; pair < BINS / 2u; pair += INVOCATIONS) {
    let both = atomicLoad(&counts[pair]);
    if ((both & 0xffffu) > 0u) { addToBin(2u * pair, both & 0xffffu); }
    if ((both >> 16u) > 0u) { addToBin(2u * pair + 1u, both >> 16u); }
  }
  let found = atomicLoad(&marked);
  if (local == 0u && found > 0u) { atomicAdd(&control.keysMarked, found); }
}
