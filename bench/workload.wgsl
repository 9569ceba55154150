// Columns of a workload (static-map-workload.ts has the same arithmetic), and checks of what a map answered about them. Stands behind
// columns.wgsl. Bytes per element: 4 written; checks read 5 (look-ups) or 8 (pairs).
//
// Parameters: words of a key, and of a value; size, the number of keys; stride of the look-ups; column: 0 keys, 1 lookups, 2 absent, 3 half;
// present: 0 none of the keys below size is there, 1 those of even numbers, 2 all.

/// Written for misses; MISSING of static-map-check.ts.
const MISSING: u32 = 0xabad1deau;

// i * stride modulo the size, bit by bit of the stride. The size is at most 2^31, so no sum overflows.
fn lookedUpAt(i: u32) -> u32 {
  var product = 0u;
  var addend = i;
  for (var bits = params.stride; bits > 0u; bits >>= 1u) {
    if ((bits & 1u) == 1u) { product = lessThanSize(product + addend); }
    addend = lessThanSize(addend + addend);
  }
  return product;
}

fn lessThanSize(sum: u32) -> u32 { return select(sum, sum - params.size, sum >= params.size); }

fn numberAt(i: u32) -> u32 {
  if (params.column == 0u) { return i; }
  if (params.column == 2u) { return params.size + i; }
  return lookedUpAt(i) + select(0u, params.size, params.column == 3u && (i & 1u) == 1u);
}

@compute @workgroup_size(256)
fn makeKeys(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let step = groups.x * groups.y * 256u;
  for (var i = start(group, groups, local); i < params.count; i += step) {
    let number = numberAt(params.first + i);
    words[i * params.words] = mix(number);
    if (params.words == 2u) { words[2u * i + 1u] = mix(~number); }
  }
}

@compute @workgroup_size(256)
fn makeNumbers(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let step = groups.x * groups.y * 256u;
  for (var i = start(group, groups, local); i < params.count; i += step) {
    words[i * params.words] = params.first + i;
    if (params.words == 2u) { words[2u * i + 1u] = ~(params.first + i); }
  }
}

// Four bytes of the mask a word.
@compute @workgroup_size(256)
fn makeOdd(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let step = groups.x * groups.y * 256u;
  for (var word = start(group, groups, local); word < (params.count + 3u) / 4u; word += step) {
    var bytes = 0u;
    for (var byte = 0u; byte < 4u; byte++) {
      let i = word * 4u + byte;
      if (i < params.count && (lookedUpAt(i) & 1u) == 1u) { bytes |= 1u << (8u * byte); }
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
  for (var i = start(group, groups, local); i < params.count; i += step) {
    let number = numberAt(i);
    let there = number < params.size && (params.present == 2u || (params.present == 1u && (number & 1u) == 0u));
    let flag = (found[i / 4u] >> (8u * (i & 3u))) & 0xffu;
    var isRight = flag == u32(there) && values[i * params.words] == select(MISSING, number, there);
    if (params.words == 2u) { isRight = isRight && values[2u * i + 1u] == select(MISSING, ~number, there); }
    if (!isRight) { report(i); }
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
  for (var i = start(group, groups, local); i < params.count; i += step) {
    let number = values[i * params.words];
    var isRight = number < params.size && keys[i * params.words] == mix(number);
    if (params.words == 2u) { isRight = isRight && keys[2u * i + 1u] == mix(~number) && values[2u * i + 1u] == ~number; }
    if (!isRight) { report(i); continue; }
    let bit = 1u << (number & 31u);
    if ((atomicOr(&seen[number / 32u], bit) & bit) != 0u) { report(i); }
  }
}
