// What a row kernel is told per dispatch. The order is that of `rowParamNames` in row-kernels.ts. A fragment.
//
// A row's record is `rowWords` words: its hash, its null bits (`nullWords`), the words of its fixed-width columns, and a
// start and a length in bytes for each string column. Rows are equal when all words up to the strings are equal, the
// hash included, and then all strings.

struct RowParams {
  /// Rows (outputs, slots) first .. first + count are this dispatch's.
  first: u32,
  count: u32,
  /// Slots of the join's table.
  slots: u32,
  rowWords: u32,
  /// Words of a record before its strings.
  plainWords: u32,
  nullWords: u32,
  /// Packing: where the column goes in the record, its width in words, its number, and where its bytes begin.
  column: u32,
  columnWord: u32,
  columnWidth: u32,
  columnBytes: u32,
  /// 1: nulls are equal to nulls. 0: a row with a null has no partner.
  nullsEqual: u32,
  /// Elements of the whole array, for scans and searches.
  total: u32,
}

@group(0) @binding(0) var<uniform> params: RowParams;

const WORKGROUP: u32 = 256u;

/// Number of this invocation over a grid of workgroups.
fn invocation(workgroup: vec3u, workgroups: vec3u, local: u32) -> u32 {
  return (workgroup.y * workgroups.x + workgroup.x) * WORKGROUP + local;
}
