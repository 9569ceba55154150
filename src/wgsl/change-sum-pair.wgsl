// Adding to the values of maps of 64-bit integers: whoever makes the low word wrap adds the carry to the high one.
// Every wrap has one cause, so the sum is exact when all have added, in any order. A fragment after change-map.wgsl.

/// Puts a pair into the table, or adds to the value that is there. Sums wrap.
fn insertOrAdd(key: KeyType, value: ValueType) -> u32 {
  let place = claim(bitsOf(key));
  if (place.outcome == FULL) { return FULL; }
  // a free slot's value is EMPTY in both words, which is -1: one more makes it 0, whoever else has added before
  let one = u32(place.outcome == INSERTED);
  let low = value.x + one;
  let before = atomicAdd(&table[valueWord(place.slot)], low);
  atomicAdd(&table[valueWord(place.slot) + 1u], value.y + u32(low < one) + u32(before + low < before));
  return place.outcome;
}
