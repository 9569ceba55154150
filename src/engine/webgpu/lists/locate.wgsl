// locate: the length of each element's list, as a column to scan, and its place; sums the lengths up to 64 bits.
// 256 invocations a workgroup, one element each. Owns its words. Bytes an element: 4 read, 8 read at random, 8 written.

/// Halves of 16 bits: 256 of them cannot overflow.
var<workgroup> sums: array<atomic<u32>, 2>;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let row = invocation(workgroup, workgroups, local);
  if (row < params.count) {
    let number = numbers[params.numbersShift + row];
    var length = 0u;
    var place = 0u;
    if (number != NO_LIST) {
      length = heads[number * HEAD];
      if (HEAD == 2u) { place = heads[number * HEAD + 1u]; }
    }
    if (OUTER && length == 0u && isSelected(row)) {
      length = 1u;
      place = MISSING;
    }
    offsets[params.first + row] = length;
    places[params.first + row] = place;
    atomicAdd(&sums[0], length & 0xffffu);
    atomicAdd(&sums[1], length >> 16u);
  }
  workgroupBarrier();
  if (local == 0u) {
    let upper = atomicLoad(&sums[1]);
    let low = atomicLoad(&sums[0]) + ((upper & 0xffffu) << 16u);
    let carried = u32(low < atomicLoad(&sums[0]));
    let before = atomicAdd(&control.totalLow, low);
    let high = (upper >> 16u) + carried + u32(before + low < before);
    if (high > 0u) { atomicAdd(&control.totalHigh, high); }
  }
}
