// expand: writes all pairs, however unevenly they fall on the probe rows: an invocation owns one pair and searches its row.
//
// 256 invocations a workgroup. `pairStarts` are the scanned counts of `total` probe rows;
// a row's match is the leader of its group and the group's size; `starts` say where a leader's group begins in `members`.
// Bytes per pair: about 4 × log2(rows) read, mostly cached; 16 read, 8 written.

/// The last row whose pairs start at or before `pair`: rows without pairs come before it or start later.
fn rowOfPair(pair: u32) -> u32 {
  var low = 0u;
  var high = params.total;
  while (low + 1u < high) {
    let middle = low + (high - low) / 2u;
    if (pairStarts[middle] <= pair) { low = middle; } else { high = middle; }
  }
  return low;
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let at = invocation(workgroup, workgroups, local);
  if (at >= params.count) { return; }
  let pair = params.first + at;
  let row = rowOfPair(pair);
  let start = starts[matches[row].x];
  outBuild[at] = members[start + (pair - pairStarts[row])];
  outProbe[at] = row;
}
