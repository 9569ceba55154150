// pack: copies a column to its place in elements of several columns.
//
// An element an invocation. Owns the column's words in `packed`; other dispatches write those of other columns. Bytes
// per element: 4 or 8 read and written.

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let element = workgroupOf(grid) * WORKGROUP + local;
  if (element >= params.count) { return; }
  let source = params.shift + element * params.words;
  let place = element * params.stride + params.offset;
  packed[place] = column[source];
  if (params.words == 2u) { packed[place + 1u] = column[source + 1u]; }
}
