// pack-bytes: puts where a string lies into the rows' records and mixes its bytes into their hashes.
// 256 invocations a workgroup, one row each. Bytes per row: 8 and the string read, 16 read and written.

/// Four bytes from any byte position, little-endian.
fn bytesAt(position: u32) -> u32 {
  let word = position / 4u;
  let shift = position % 4u * 8u;
  if (shift == 0u) { return bytes[word]; }
  return (bytes[word] >> shift) | (bytes[word + 1u] << (32u - shift));
}

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
  var start = 0u;
  var length = 0u;
  if (isNull(row)) {
    setNull(record);
  } else {
    start = params.columnBytes + starts[row];
    length = ends[row] - starts[row];
  }
  for (var i = 0u; i + 4u <= length; i += 4u) { hash = mixWord(hash, bytesAt(start + i)); }
  let tail = length % 4u;
  if (tail > 0u) { hash = mixWord(hash, bytesAt(start + length - tail) & ((1u << (tail * 8u)) - 1u)); }
  records[record + params.columnWord] = start;
  records[record + params.columnWord + 1u] = length;
  records[record] = mixWord(hash, length);
}
