// raise: the greatest word of each group, of one word of its values from the highest down (`phase`), among the rows that have the words
// above; flipped words find the least value. After all words: a row that has them, the first one or the last (`latest`), the first
// one as the greatest of ~row. States are 0 at first; no row's number is written as 0. A fragment after group-cache.wgsl and values.wgsl.
//
// 256 invocations a workgroup, 16 rows each. Shares: the states of this phase, which only rise; those of phases before do not change.
// Bytes per row: 4 and the value read, and the group's states, which stay in the cache where groups are few.

var<workgroup> greatest: array<atomic<u32>, CACHE>;

fn isCandidate(row: u32, group: u32) -> bool {
  if (isNull(row)) { return false; }
  for (var k = 0u; k < params.phase; k++) {
    let settled = atomicLoad(&states[k * params.groups + group]);
    if ((orderedWord(row, params.words - 1u - k) ^ params.flip) != settled) { return false; }
  }
  return true;
}

fn wordOf(row: u32) -> u32 {
  if (params.phase < params.words) { return orderedWord(row, params.words - 1u - params.phase) ^ params.flip; }
  return select(~row, row + 1u, params.latest == 1u);
}

fn raise(group: u32, word: u32) {
  let at = params.phase * params.groups + group;
  // most rows raise nothing, and reading waits for nobody
  if (atomicLoad(&states[at]) < word) { atomicMax(&states[at], word); }
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let start = (workgroup.y * workgroups.x + workgroup.x) * WORKGROUP * ITEMS + local;
  for (var i = 0u; i < ITEMS; i++) {
    let at = start + i * WORKGROUP;
    if (at >= params.count) { continue; }
    let row = params.first + at;
    let group = groupOf[row];
    if (!isCandidate(row, group)) { continue; }
    let slot = slotOf(group);
    if (slot < CACHE) { atomicMax(&greatest[slot], wordOf(row)); } else { raise(group, wordOf(row)); }
  }
  workgroupBarrier();
  for (var slot = local; slot < CACHE; slot += WORKGROUP) {
    let holder = atomicLoad(&holders[slot]);
    if (holder > 0u) { raise(holder - 1u, atomicLoad(&greatest[slot])); }
  }
}
