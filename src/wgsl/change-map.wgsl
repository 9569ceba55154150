// The inserts of maps. A fragment after change.wgsl.

/// Puts a pair into the table, if the key is not there.
fn insert(key: KeyType, value: ValueType) -> u32 {
  let place = claim(bitsOf(key));
  if (place.outcome == INSERTED) { atomicStore(&table[valueWord(place.slot)], bitcast<u32>(value)); }
  return place.outcome;
}

/// Puts a pair into the table, or the value in place of that which is there.
fn insertOrAssign(key: KeyType, value: ValueType) -> u32 {
  let place = claim(bitsOf(key));
  if (place.outcome != FULL) { atomicStore(&table[valueWord(place.slot)], bitcast<u32>(value)); }
  return place.outcome;
}
