// sample-keys: tells the pass that counts keys before it begins that there are more groups than params.slots, where some
// rows already have so many different keys; and how many slots of a cache (params.groups) a group may have, where these
// keys are few. A fragment after rows.wgsl and keyed-hash.wgsl.
//
// One workgroup of 256 invocations, SAMPLES rows each, one anywhere in each of as many equal parts: keys may come again
// at regular distances. Owns control.keysLeft, which it only sets, and
// control.keyReplicas. Bytes read: 4 a sample.

const SAMPLES: u32 = 64u;
/// Different keys may have one bit, so there are as many keys as bits at least.
const MARKS: u32 = 65536u;

var<workgroup> marks: array<atomic<u32>, MARKS / 32u>;
var<workgroup> marked: atomic<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) local: u32) {
  let stride = max(params.total / (WORKGROUP * SAMPLES), 1u);
  for (var i = 0u; i < SAMPLES; i++) {
    let part = i * WORKGROUP + local;
    let row = part * stride + ((part * 0x9e3779b1u) >> 8u) % stride;
    if (row >= params.total) { break; }
    let at = keyedHash(keys[row]) % MARKS;
    let bit = 1u << (at % 32u);
    if ((atomicOr(&marks[at / 32u], bit) & bit) == 0u) { atomicAdd(&marked, 1u); }
  }
  workgroupBarrier();
  if (local != 0u) { return; }
  let keys = atomicLoad(&marked);
  // null rows may have any key, which is one group
  if (params.keyNullable == 0u && keys > params.slots) { atomicStore(&control.keysLeft, 1u); }
  let spare = clamp(params.groups / (4u * keys), 1u, 1u << params.replicas);
  atomicStore(&control.keyReplicas, firstLeadingBit(spare));
}
