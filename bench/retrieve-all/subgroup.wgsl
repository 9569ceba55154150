// Aggregated by subgroups: a ballot ranks the entries of neighbouring lanes, a subgroup takes places by
// one addition in workgroup memory, a tile by one in memory. Neighbouring lanes write neighbouring words without any staging.
// Needs the feature "subgroups"; any subgroup size to 128.

var<workgroup> counter: atomic<u32>;
var<workgroup> base: u32;

/// The lanes before this one.
fn lanesBefore(lane: u32) -> vec4u {
  let words = vec4u(0u, 32u, 64u, 96u);
  let bits = clamp(vec4i(i32(lane)) - vec4i(words), vec4i(0), vec4i(32));
  return select((vec4u(1u) << vec4u(bits & vec4i(31))) - 1u, vec4u(EMPTY), bits == vec4i(32));
}

fn bitsOf(lanes: vec4u) -> u32 {
  let counts = countOneBits(lanes);
  return counts.x + counts.y + counts.z + counts.w;
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let first = (group.y * groups.x + group.x) * WORKGROUP * ITEMS + local;
  var slots: array<vec4u, ITEMS>;
  for (var item = 0u; item < ITEMS; item++) { slots[item] = loadPair(first + item * WORKGROUP); }
  var count = 0u;
  for (var item = 0u; item < ITEMS; item++) { count += liveOf(first + item * WORKGROUP, slots[item]); }
  let all = subgroupAdd(count);
  var rank = 0u;
  if (lane == 0u) { rank = atomicAdd(&counter, all); }
  rank = subgroupBroadcastFirst(rank);
  workgroupBarrier();
  if (local == 0u) { base = atomicAdd(&total, atomicLoad(&counter)); }
  workgroupBarrier();
  var place = base + rank;
  let before = lanesBefore(lane);
  for (var item = 0u; item < ITEMS; item++) {
    let slot = 2u * (first + item * WORKGROUP);
    let each = slots[item];
    let low = isLive(slot, each.x);
    let high = isLive(slot + 1u, each.z);
    let lows = subgroupBallot(low);
    let highs = subgroupBallot(high);
    let firstHigh = place + bitsOf(lows);
    // each store writes neighbouring words: all first slots of the lanes' pairs, then all second ones
    if (low) { write(place + bitsOf(lows & before), slot, each.x, each.y); }
    if (high) { write(firstHigh + bitsOf(highs & before), slot + 1u, each.z, each.w); }
    place = firstHigh + bitsOf(highs);
  }
}
