// add-values: counts the values of each group, and adds them up if `stride` is 4. A fragment after group-cache.wgsl and values.wgsl.
// A state is the count, and three words of a sum that 2^31 values of 64 bits cannot leave; values are in order (values.wgsl), so they
// are not negative. An addition's carry is known from the word that it found, so no two additions need to be one.
//
// 256 invocations a workgroup, 16 rows each. Shares: the states, by addition alone. Bytes per row: 4 and the value read, and where a group
// has no slot in the cache up to 16 at random; a slot that is taken is merged once a workgroup.

var<workgroup> own: array<array<atomic<u32>, 4>, CACHE>;

fn addToAll(group: u32, count: u32, low: u32, high: u32, top: u32) {
  let at = group * params.stride;
  atomicAdd(&states[at], count);
  if (params.stride == 1u) { return; }
  let before = atomicAdd(&states[at + 1u], low);
  let carried = u32(before + low < before);
  let middle = high + carried;
  var upper = top + u32(middle < carried);
  if (middle > 0u) {
    let found = atomicAdd(&states[at + 2u], middle);
    upper += u32(found + middle < found);
  }
  if (upper > 0u) { atomicAdd(&states[at + 3u], upper); }
}

fn addToOwn(slot: u32, low: u32, high: u32) {
  atomicAdd(&own[slot][0], 1u);
  if (params.stride == 1u) { return; }
  let before = atomicAdd(&own[slot][1], low);
  let carried = u32(before + low < before);
  let middle = high + carried;
  var upper = u32(middle < carried);
  if (middle > 0u) {
    let found = atomicAdd(&own[slot][2], middle);
    upper += u32(found + middle < found);
  }
  if (upper > 0u) { atomicAdd(&own[slot][3], upper); }
}

fn add(row: u32) {
  if (isNull(row)) { return; }
  let group = groupOf[row];
  var low = 0u;
  var high = 0u;
  if (params.stride > 1u) {
    low = orderedWord(row, 0u);
    if (params.words > 1u) { high = orderedWord(row, 1u); }
  }
  let slot = slotOf(group);
  if (slot < CACHE) { addToOwn(slot, low, high); } else { addToAll(group, 1u, low, high, 0u); }
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let start = (workgroup.y * workgroups.x + workgroup.x) * WORKGROUP * ITEMS + local;
  for (var i = 0u; i < ITEMS; i++) {
    let at = start + i * WORKGROUP;
    if (at < params.count) { add(params.first + at); }
  }
  workgroupBarrier();
  for (var slot = local; slot < CACHE; slot += WORKGROUP) {
    let holder = atomicLoad(&holders[slot]);
    let count = atomicLoad(&own[slot][0]);
    if (holder == 0u || count == 0u) { continue; }
    addToAll(
      holder - 1u,
      count,
      atomicLoad(&own[slot][1]),
      atomicLoad(&own[slot][2]),
      atomicLoad(&own[slot][3]),
    );
  }
}
