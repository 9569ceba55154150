// Kernels of the benchmark gups: fill a table, read it at random, copy it.
//
// Bindings: 0 the table, 1 what is written. Workgroups of 256, any grid. Overrides: ENTRIES, 8-byte entries of the table, a
// power of two of at least 2; READS, reads of one invocation, a multiple of 8.
// Invocations share no memory that any of them writes, so nothing races.
// Bytes moved: fillTable writes 8 per entry; readAtRandom reads 8 per read and writes 4 per invocation; copyTable reads and writes 8 per entry.

override ENTRIES: u32;
override READS: u32;

@group(0) @binding(0) var<storage, read> table: array<vec2u>;
@group(0) @binding(0) var<storage, read> table_wide: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> filled: array<vec2u>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@group(0) @binding(1) var<storage, read_write> copied: array<vec4u>;

// lowbias32 (Wellons, "Prospecting for Hash Functions"); bench/mix.ts is the same arithmetic.
fn mix(value: u32) -> u32 {
  var x = value;
  x = (x ^ (x >> 16u)) * 0x21f0aaadu;
  x = (x ^ (x >> 15u)) * 0xd35a2d97u;
  return x ^ (x >> 15u);
}

// What read number `number` adds: both words of an entry anywhere in the table. The place depends on the number alone, so
// no read waits for another.
fn entry(number: u32) -> vec2u {
  return table[mix(number) & (ENTRIES - 1u)];
}

fn invocation(group: vec3u, groups: vec3u, local: u32) -> u32 {
  return (group.y * groups.x + group.x) * 256u + local;
}

@compute @workgroup_size(256)
fn fillTable(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let step = groups.x * groups.y * 256u;
  for (var i = invocation(group, groups, local); i < ENTRIES; i += step) {
    filled[i] = vec2u(i, mix(~i));
  }
}

// Invocation i does the reads i * READS to (i + 1) * READS - 1 (modulo 2^32), eight at a time, and writes their sum.
@compute @workgroup_size(256)
fn readAtRandom(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let me = invocation(group, groups, local);
  var sum = vec2u(0u);
  for (var k = 0u; k < READS; k += 8u) {
    let number = me * READS + k;
    let a = entry(number);
    let b = entry(number + 1u);
    let c = entry(number + 2u);
    let d = entry(number + 3u);
    let e = entry(number + 4u);
    let f = entry(number + 5u);
    let g = entry(number + 6u);
    let h = entry(number + 7u);
    sum += ((a + b) + (c + d)) + ((e + f) + (g + h));
  }
  if (me < arrayLength(&sums)) {
    sums[me] = sum.x ^ sum.y;
  }
}

// Sixteen bytes at a time.
@compute @workgroup_size(256)
fn copyTable(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let step = groups.x * groups.y * 256u;
  for (var i = invocation(group, groups, local); i < ENTRIES / 2u; i += step) {
    copied[i] = table_wide[i];
  }
}
