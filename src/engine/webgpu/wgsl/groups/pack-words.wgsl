// pack-words: copies a fixed-width column into the rows' records and mixes it into their hashes. A fragment of
// pack.wgsl. Bytes per row: 4 × width read, 4 × width + 8 read and written.

fn packColumn(row: u32, absent: bool, at: u32, before: u32) -> u32 {
  var hash = before;
  for (var i = 0u; i < params.columnWidth; i++) {
    var word = 0u;
    if (!absent) { word = data[row * params.columnWidth + i]; }
    records[at + i] = word;
    hash = mixWord(hash, word);
  }
  return hash;
}
