// expand: writes all pairs, however unevenly they fall on the probe rows: an invocation owns one pair and searches its
// row.
//
// A fragment after row-of.wgsl. 256 invocations a workgroup. `outStarts` are the scanned counts of `total` probe rows;
// a row's match is the leader of its group and the group's size; `starts` say where a leader's group begins in
// `members`. Bytes per pair: about 4 × log2(rows) read, mostly cached; 16 read, 8 written.

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let at = invocation(grid, local);
  if (at >= params.count) { return; }
  let pair = params.first + at;
  let row = rowOf(pair);
  let start = starts[matches[row].x];
  outBuild[at] = members[start + (pair - outStarts[row])];
  outProbe[at] = row;
}
