// Groups of rows by lists of a key and a row number each, whose highest bit tells that the key is null: in the order of
// the slots of their groups, but for some disorder. A fragment after key-slots.wgsl.

fn rowAt(element: u32) -> u32 { return items[element].y & 0x7fffffffu; }

fn keyAt(element: u32) -> RowKey {
  let item = items[element];
  return RowKey(item.y >> 31u == 1u, identityOf(item.x));
}
