// Packing one column into the rows' records: its words, its null bits, and its part of the hash. A fragment after
// mix.wgsl, for modules with packColumn, which writes the words and returns the hash. Columns are packed in order, a
// dispatch each. 256 invocations a workgroup; every invocation owns one row's record.

fn isNull(row: u32) -> bool {
  return NULLABLE && ((validity[row / 32u] >> (row % 32u)) & 1u) == 0u;
}

/// The row's hash so far; the first column begins the record.
fn beginColumn(record: u32) -> u32 {
  if (params.column > 0u) { return records[record]; }
  for (var i = 0u; i < params.nullWords; i++) { records[record + 1u + i] = 0u; }
  return 0u;
}

fn onElement(row: u32) {
  let record = row * params.rowWords;
  let hash = beginColumn(record);
  let absent = isNull(row);
  if (absent) { records[record + 1u + params.column / 32u] |= 1u << (params.column % 32u); }
  records[record] = packColumn(row, absent, record + params.columnWord, hash);
}
