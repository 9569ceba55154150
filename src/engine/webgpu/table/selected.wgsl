// Whether a mask selects an element: bytes of the binding `mask`, four a word. A fragment, for modules with
// params.maskShift.

fn isSelected(element: u32) -> bool {
  if (!MASKED) { return true; }
  return ((mask[params.maskShift + element / 4u] >> (element % 4u * 8u)) & 0xffu) != 0u;
}
