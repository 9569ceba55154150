// What all kernels have that make columns of a workload or judge answers about them (columns-gpu.ts).
//
// Workgroups of 256 over any grid, grid-stride: an invocation works on elements its number apart. Invocations write elements
// of their own; counters and the bitmap are atomic.
//
// Params is made by columns-gpu.ts: `first` and `count`, the elements of the column, and what the source behind this has besides.

struct Verdict {
  wrong: atomic<u32>,
  first: atomic<u32>,
}

@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(1) var<storage, read> values: array<u32>;
@group(0) @binding(2) var<storage, read> found: array<u32>;
@group(0) @binding(3) var<storage, read_write> verdict: Verdict;
@group(0) @binding(4) var<storage, read> keys: array<u32>;
@group(0) @binding(5) var<storage, read_write> seen: array<atomic<u32>>;
@group(0) @binding(6) var<uniform> params: Params;

// lowbias32: bench/mix.ts.
fn mix(value: u32) -> u32 {
  var x = value;
  x = (x ^ (x >> 16u)) * 0x21f0aaadu;
  x = (x ^ (x >> 15u)) * 0xd35a2d97u;
  return x ^ (x >> 15u);
}

fn report(i: u32) {
  atomicAdd(&verdict.wrong, 1u);
  atomicMin(&verdict.first, i);
}

fn start(group: vec3u, groups: vec3u, local: u32) -> u32 { return (group.y * groups.x + group.x) * 256u + local; }
