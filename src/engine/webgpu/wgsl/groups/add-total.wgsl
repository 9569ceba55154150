// Adding up a count of each invocation: 64 bits, in control.totalLow and control.totalHigh. A fragment; all invocations
// of a workgroup call it.

var<workgroup> sums: array<atomic<u32>, 2>;

fn addTotal(local: u32, count: u32) {
  // halves of 16 bits: 256 of them cannot overflow
  atomicAdd(&sums[0], count & 0xffffu);
  atomicAdd(&sums[1], count >> 16u);
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
