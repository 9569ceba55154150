// pack-bytes: puts where a string lies into the rows' records and mixes its bytes into their hashes. A fragment of
// pack.wgsl. Bytes per row: 8 and the string read, 16 read and written.

fn packColumn(row: u32, absent: bool, at: u32, before: u32) -> u32 {
  var hash = before;
  var start = 0u;
  var length = 0u;
  if (!absent) {
    start = params.columnBytes + starts[row];
    length = ends[row] - starts[row];
  }
  for (var i = 0u; i + 4u <= length; i += 4u) { hash = mixWord(hash, bytesAt(start + i)); }
  let tail = length % 4u;
  if (tail > 0u) { hash = mixWord(hash, bytesAt(start + length - tail) & ((1u << (tail * 8u)) - 1u)); }
  records[at] = start;
  records[at + 1u] = length;
  return mixWord(hash, length);
}
