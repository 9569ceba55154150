// histogram: counts the chunk's keys by part.
//
// Grid-stride, counted in workgroup memory first. Shares `counts`, atomically. Bytes per key: 4 read.

override WORKGROUP: u32 = 512u;
override BINS: u32 = 256u;

@group(0) @binding(2) var<storage, read> keys: array<u32>;
@group(0) @binding(3) var<storage, read_write> counts: array<atomic<u32>>;

var<workgroup> bins: array<atomic<u32>, BINS>;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let stride = workgroups.x * WORKGROUP;
  for (var base = workgroup.x * WORKGROUP + local; base < params.count; base += stride * ITEMS) {
    var key: array<u32, ITEMS>;
    for (var i = 0u; i < ITEMS; i++) { key[i] = keys[params.keyShift + min(base + i * stride, params.count - 1u)]; }
    for (var i = 0u; i < ITEMS; i++) {
      if (isSelected(base + i * stride)) { atomicAdd(&bins[partOf(canonicalKey(key[i]))], 1u); }
    }
  }
  workgroupBarrier();
  for (var bin = local; bin < BINS; bin += WORKGROUP) {
    let count = atomicLoad(&bins[bin]);
    if (count > 0u) { atomicAdd(&counts[bin], count); }
  }
}
