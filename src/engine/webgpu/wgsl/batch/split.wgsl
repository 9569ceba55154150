// split: copies the words of one column out of elements of several; with FLAGGED the missing value for elements whose
// byte in `flags` is 0.
//
// An element an invocation. Owns its element of `column`. Bytes per element: 4 or 8 read and written, and a flag read.

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let element = workgroupOf(grid) * WORKGROUP + local;
  if (element >= params.count) { return; }
  let source = element * params.stride + params.offset;
  let place = params.shift + element * params.words;
  var isThere = true;
  if (FLAGGED) { isThere = ((flags[params.flagShift + element / 4u] >> (element % 4u * 8u)) & 0xffu) != 0u; }
  column[place] = select(params.missing, packed[source], isThere);
  if (params.words == 2u) { column[place + 1u] = select(params.missingHigh, packed[source + 1u], isThere); }
}
