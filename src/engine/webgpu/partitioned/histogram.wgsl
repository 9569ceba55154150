// histogram: counts the chunk's keys by partition.
//
// Grid-stride, counted in workgroup memory first. With SAMPLE n it counts one block of keys in n. Shares `counts`,
// atomically. Bytes per key: those of the key / n read.

/// Neighbouring keys that are counted together.
const BLOCK: u32 = 1024u;

var<workgroup> bins: array<atomic<u32>, BINS>;

/// The element that is counted as number `at`.
fn counted(at: u32) -> u32 { return at + at / BLOCK * BLOCK * (SAMPLE - 1u); }

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let stride = grid.workgroups.x * WORKGROUP;
  for (var base = grid.workgroup.x * WORKGROUP + local; counted(base) < params.count; base += stride * ITEMS) {
    var key: array<Key, ITEMS>;
    for (var i = 0u; i < ITEMS; i++) { key[i] = keyOf(min(counted(base + i * stride), params.count - 1u)); }
    for (var i = 0u; i < ITEMS; i++) {
      if (isSelected(counted(base + i * stride))) { atomicAdd(&bins[partitionOf(key[i])], 1u); }
    }
  }
  workgroupBarrier();
  for (var bin = local; bin < BINS; bin += WORKGROUP) {
    let count = atomicLoad(&bins[bin]);
    if (count > 0u) { atomicAdd(&counts[bin], count); }
  }
}
