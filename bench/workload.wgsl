// Columns of a workload (static-map-workload.ts has the same arithmetic), and checks of what a map answered about them.
//
// Workgroups of 256 over any grid, grid-stride: an invocation works on elements its number apart. Invocations write elements
// of their own; counters and the bitmap are atomic. Bytes per element: 4 written; checks read 5 (look-ups) or 8 (pairs).
//
// Overrides: SIZE keys; STRIDE of the look-ups; COLUMN 0 keys, 1 lookups, 2 absent, 3 half; FIRST and COUNT, the
// elements of the column; PRESENT 0 none of the keys below SIZE is there, 1 those of even numbers, 2 all.

override SIZE: u32;
override STRIDE: u32 = 1;
override COLUMN: u32 = 0;
override FIRST: u32 = 0;
override COUNT: u32;
override PRESENT: u32 = 2;

/// Written for misses; MISSING of static-map-check.ts.
const MISSING: u32 = 0xabad1deau;

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

// lowbias32: bench/mix.ts.
fn mix(value: u32) -> u32 {
  var x = value;
  x = (x ^ (x >> 16u)) * 0x21f0aaadu;
  x = (x ^ (x >> 15u)) * 0xd35a2d97u;
  return x ^ (x >> 15u);
}

// i * STRIDE modulo SIZE, bit by bit of the stride. SIZE is at most 2^31, so no sum overflows.
fn lookedUpAt(i: u32) -> u32 {
  var product = 0u;
  var addend = i;
  for (var bits = STRIDE; bits > 0u; bits >>= 1u) {
    if ((bits & 1u) == 1u) { product = lessThanSize(product + addend); }
    addend = lessThanSize(addend + addend);
  }
  return product;
}

fn lessThanSize(sum: u32) -> u32 { return select(sum, sum - SIZE, sum >= SIZE); }

fn numberAt(i: u32) -> u32 {
  if (COLUMN == 0u) { return i; }
  if (COLUMN == 2u) { return SIZE + i; }
  return lookedUpAt(i) + select(0u, SIZE, COLUMN == 3u && (i & 1u) == 1u);
}

fn report(i: u32) {
  atomicAdd(&verdict.wrong, 1u);
  atomicMin(&verdict.first, i);
}

fn start(group: vec3u, groups: vec3u, local: u32) -> u32 { return (group.y * groups.x + group.x) * 256u + local; }

@compute @workgroup_size(256)
fn makeKeys(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let step = groups.x * groups.y * 256u;
  for (var i = start(group, groups, local); i < COUNT; i += step) { words[i] = mix(numberAt(FIRST + i)); }
}

@compute @workgroup_size(256)
fn makeNumbers(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let step = groups.x * groups.y * 256u;
  for (var i = start(group, groups, local); i < COUNT; i += step) { words[i] = FIRST + i; }
}

// Four bytes of the mask a word.
@compute @workgroup_size(256)
fn makeOdd(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let step = groups.x * groups.y * 256u;
  for (var word = start(group, groups, local); word < (COUNT + 3u) / 4u; word += step) {
    var bytes = 0u;
    for (var byte = 0u; byte < 4u; byte++) {
      let i = word * 4u + byte;
      if (i < COUNT && (lookedUpAt(i) & 1u) == 1u) { bytes |= 1u << (8u * byte); }
    }
    words[word] = bytes;
  }
}

@compute @workgroup_size(256)
fn checkFound(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let step = groups.x * groups.y * 256u;
  for (var i = start(group, groups, local); i < COUNT; i += step) {
    let number = numberAt(i);
    let there = number < SIZE && (PRESENT == 2u || (PRESENT == 1u && (number & 1u) == 0u));
    let flag = (found[i / 4u] >> (8u * (i & 3u))) & 0xffu;
    if (flag != u32(there) || values[i] != select(MISSING, number, there)) { report(i); }
  }
}

// As many pairs as keys, each right and none twice: they are all there.
@compute @workgroup_size(256)
fn checkPairs(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let step = groups.x * groups.y * 256u;
  for (var i = start(group, groups, local); i < COUNT; i += step) {
    let number = values[i];
    if (number >= SIZE || keys[i] != mix(number)) { report(i); continue; }
    let bit = 1u << (number & 31u);
    if ((atomicOr(&seen[number / 32u], bit) & bit) != 0u) { report(i); }
  }
}
