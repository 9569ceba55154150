// The insert of maps. A fragment after change.wgsl, for modules with storeValue(slot, value).

/// Puts a pair into the table, if the key is not there.
fn insert(key: KeyType, value: ValueType) -> u32 {
  let place = claim(bitsOf(key));
  if (place.outcome == INSERTED) { storeValue(place.slot, value); }
  return place.outcome;
}
