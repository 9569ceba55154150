// probe: finds the leader and the size of every probe row's group, and counts pairs.
//
// 256 invocations a workgroup, one row each. Owns its row's match.
// Bytes per row at load 0.5: a record read, about 1.5 slots and a record compared, 4 read, 8 written.

var<workgroup> sums: array<atomic<u32>, 2>;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let at = invocation(workgroup, workgroups, local);
  if (at < params.count) {
    let row = params.first + at;
    let leader = findGroup(row);
    var size = 0u;
    if (leader != EMPTY) { size = sizes[leader]; }
    matches[row] = vec2u(leader, size);
    // halves of 16 bits: 256 of them cannot overflow
    atomicAdd(&sums[0], size & 0xffffu);
    atomicAdd(&sums[1], size >> 16u);
  }
  workgroupBarrier();
  if (local == 0u) {
    let upper = atomicLoad(&sums[1]);
    let low = atomicLoad(&sums[0]) + ((upper & 0xffffu) << 16u);
    let carried = u32(low < atomicLoad(&sums[0]));
    let before = atomicAdd(&control.pairsLow, low);
    let high = (upper >> 16u) + carried + u32(before + low < before);
    if (high > 0u) { atomicAdd(&control.pairsHigh, high); }
  }
}
