// Adding to the values of maps of integers. A fragment after change-map.wgsl.

/// Puts a pair into the table, or adds to the value that is there. Sums wrap.
fn insertOrAdd(key: KeyType, value: ValueType) -> u32 {
  let place = claim(bitsOf(key));
  if (place.outcome == FULL) { return FULL; }
  // a free slot's value is EMPTY, which is -1: one more makes it 0, whoever else has added before
  let more = bitcast<u32>(value) + u32(place.outcome == INSERTED);
  atomicAdd(&table[valueWord(place.slot)], more);
  return place.outcome;
}
