// Whether an element is selected: bytes of a mask, four a word.

fn isSelected(row: u32) -> bool {
  if (!MASKED) { return true; }
  return ((mask[params.maskShift + row / 4u] >> (row % 4u * 8u)) & 0xffu) != 0u;
}
