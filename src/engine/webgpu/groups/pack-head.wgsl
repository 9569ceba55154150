// What packing kernels share: the validity bitmap and the head of a record. A fragment after mix.wgsl.
// Columns are packed in order, a dispatch each; every invocation owns one row's record.

fn isNull(row: u32) -> bool {
  return NULLABLE && ((validity[row / 32u] >> (row % 32u)) & 1u) == 0u;
}

/// The row's hash so far; the first column begins the record.
fn beginColumn(record: u32) -> u32 {
  if (params.column > 0u) { return records[record]; }
  for (var i = 0u; i < params.nullWords; i++) { records[record + 1u + i] = 0u; }
  return 0u;
}

fn setNull(record: u32) {
  records[record + 1u + params.column / 32u] |= 1u << (params.column % 32u);
}
