// pack-words: copies a fixed-width column into the rows' records and mixes it into their hashes.
// 256 invocations a workgroup, one row each. Bytes per row: 4 × width read, 4 × width + 8 read and written.

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let at = invocation(workgroup, workgroups, local);
  if (at >= params.count) { return; }
  let row = params.first + at;
  let record = row * params.rowWords;
  var hash = beginColumn(record);
  let absent = isNull(row);
  if (absent) { setNull(record); }
  for (var i = 0u; i < params.columnWidth; i++) {
    var word = 0u;
    if (!absent) { word = data[row * params.columnWidth + i]; }
    records[record + params.columnWord + i] = word;
    hash = mixWord(hash, word);
  }
  records[record] = hash;
}
