// mark-rejected: says of every element whether it was rejected: selected by the mask, and its key is not in the table.
//
// An invocation takes four elements, a word of bytes. Owns its elements' bytes. Bytes per element: 2 read, 1 written.

/// 1 in every byte that is not 0.
fn ones(bytes: u32) -> u32 {
  let low = ((bytes & 0x7f7f7f7fu) + 0x7f7f7f7fu) | bytes;
  return (low >> 7u) & 0x01010101u;
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let word = workgroupOf(grid) * WORKGROUP + local;
  if (word * 4u >= params.count) { return; }
  var selected = 0x01010101u;
  if (MASKED) { selected = ones(mask[params.maskShift + word]); }
  // bytes behind the chunk's last element stay 0
  let beyond = max(word * 4u + 4u, params.count) - params.count;
  selected = (selected << (beyond * 8u)) >> (beyond * 8u);
  rejected[params.flagShift + word] = selected & ~ones(present[params.valueShift + word]);
}
