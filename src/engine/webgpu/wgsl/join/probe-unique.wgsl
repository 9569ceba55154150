// probe-unique: writes the pair of every probe row that has a partner, where each build row is a group of its own.
//
// 256 invocations a workgroup, one row each; a workgroup takes room for its pairs with one addition.
// Bytes per row at load 0.5: a record read, about 1.5 slots and a record compared, 8 written per pair.

var<workgroup> pairs: atomic<u32>;
var<workgroup> base: u32;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let at = invocation(workgroup, workgroups, local);
  let row = params.first + at;
  var partner = EMPTY;
  if (at < params.count) { partner = findGroup(row); }
  var rank = 0u;
  if (partner != EMPTY) { rank = atomicAdd(&pairs, 1u); }
  workgroupBarrier();
  if (local == 0u) { base = atomicAdd(&control.totalLow, atomicLoad(&pairs)); }
  workgroupBarrier();
  if (partner != EMPTY) {
    outBuild[base + rank] = partner;
    outProbe[base + rank] = row;
  }
}
