// Assigning values of one word. A fragment after change-map.wgsl.

/// Puts a pair into the table, or the value in place of that which is there.
fn insertOrAssign(key: KeyType, value: ValueType) -> u32 {
  let place = claim(bitsOf(key));
  if (place.outcome != FULL) { storeValue(place.slot, value); }
  return place.outcome;
}
