// Columns of a workload of equal keys (multimap-workload.ts has the same arithmetic), and checks of what a container answered about them.
// Stands behind columns.wgsl. Bytes per element: 4 written; checks read 4 or 8.
//
// Parameters: size entries of distinct keys; bits, of which a number below size has as many; isSet, whether entries are keys or numbers.

/// Steps of a walk: each ends it with a chance of a half or more.
const MOST_STEPS: u32 = 128u;

/// Another order of the numbers below the size: steps of a bijection of numbers of `bits` bits, until one is below.
fn shuffled(i: u32) -> u32 {
  let half = (params.bits + 1u) / 2u;
  let mask = (1u << params.bits) - 1u;
  var x = i;
  for (var step = 0u; step < MOST_STEPS; step++) {
    x = ((x ^ (x >> half)) * 0x21f0aaadu) & mask;
    x = ((x ^ (x >> half)) * 0xd35a2d97u) & mask;
    x ^= x >> half;
    if (x < params.size) { break; }
  }
  return x;
}

/// The number of the key of an entry.
fn numberAt(i: u32) -> u32 { return shuffled(i) % params.distinct; }

/// Where the entries of a key begin when all of them lie in the order of the keys' numbers.
fn offsetOf(number: u32) -> u32 { return number * (params.size / params.distinct) + min(number, params.size % params.distinct); }

/// The number of the key whose entries are at a place then.
fn numberOf(place: u32) -> u32 {
  let few = params.size / params.distinct;
  let longer = (params.size % params.distinct) * (few + 1u);
  if (place < longer) { return place / (few + 1u); }
  return params.size % params.distinct + (place - longer) / few;
}

@compute @workgroup_size(256)
fn makeKeys(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let step = groups.x * groups.y * 256u;
  for (var i = start(group, groups, local); i < params.count; i += step) { words[i] = mix(numberAt(params.first + i)); }
}

@compute @workgroup_size(256)
fn makeDistinct(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let step = groups.x * groups.y * 256u;
  for (var i = start(group, groups, local); i < params.count; i += step) { words[i] = mix(i); }
}

@compute @workgroup_size(256)
fn makeNumbers(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let step = groups.x * groups.y * 256u;
  for (var i = start(group, groups, local); i < params.count; i += step) { words[i] = params.first + i; }
}

// values: the count of each entry's key.
@compute @workgroup_size(256)
fn checkCounts(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let step = groups.x * groups.y * 256u;
  for (var i = start(group, groups, local); i < params.count; i += step) {
    let number = numberAt(i);
    if (values[i] != offsetOf(number + 1u) - offsetOf(number)) { report(i); }
  }
}

// values: the offsets of all distinct keys.
@compute @workgroup_size(256)
fn checkOffsets(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let step = groups.x * groups.y * 256u;
  for (var i = start(group, groups, local); i < params.count; i += step) {
    if (values[i] != offsetOf(i)) { report(i); }
  }
}

// values: the entries of all distinct keys. As many as there are, each of the key at its place and none twice: they are all there.
@compute @workgroup_size(256)
fn checkEntries(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let step = groups.x * groups.y * 256u;
  for (var i = start(group, groups, local); i < params.count; i += step) {
    let number = numberOf(i);
    let entry = values[i];
    if (params.isSet != 0u) {
      if (entry != mix(number)) { report(i); }
      continue;
    }
    if (entry >= params.size || numberAt(entry) != number) { report(i); continue; }
    let bit = 1u << (entry & 31u);
    if ((atomicOr(&seen[entry / 32u], bit) & bit) != 0u) { report(i); }
  }
}
