// Groups of rows by a column of keys of one word. A fragment after key-slots.wgsl.

fn rowAt(element: u32) -> u32 { return element; }

fn keyAt(element: u32) -> RowKey {
  let isNull = params.keyNullable == 1u && ((keyValidity[element / 32u] >> (element % 32u)) & 1u) == 0u;
  return RowKey(isNull, identityOf(keys[element]));
}
