// Which elements of a chunk a mask lets through. A fragment.

fn isSelected(element: u32) -> bool {
  if (element >= params.count) { return false; }
  if (!MASKED) { return true; }
  return ((mask[params.maskShift + element / 4u] >> (element % 4u * 8u)) & 0xffu) != 0u;
}
