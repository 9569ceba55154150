// Adding to the f32 values of maps: compare-exchanges until one succeeds. Another one's success is the reason where one
// fails, or none at all. A fragment after change-map.wgsl.

/// Compare-exchanges of one call. Each that fails stands for another one's addition, or for nothing.
const ADD_LIMIT: u32 = 1u << 16u;

/// A free slot's value is EMPTY, which is a NaN that no sum is.
fn sumOf(old: u32, value: f32) -> u32 {
  var sum = bitcast<u32>(value);
  if (old != EMPTY) { sum = bitcast<u32>(bitcast<f32>(old) + value); }
  return select(sum, 0x7fc00000u, (sum & 0x7fffffffu) > 0x7f800000u);
}

/// Puts a pair into the table, or adds to the value that is there. FULL also when ADD_LIMIT compare-exchanges have
/// failed: then nothing was added, but a new key is in.
fn insertOrAdd(key: KeyType, value: f32) -> u32 {
  let place = claim(bitsOf(key));
  if (place.outcome == FULL) { return FULL; }
  let word = valueWord(place.slot);
  var old = atomicLoad(&table[word]);
  for (var attempt = 0u; attempt < ADD_LIMIT; attempt++) {
    let exchange = compareExchange(word, old, sumOf(old, value));
    if (exchange.stored) { return place.outcome; }
    old = exchange.old;
  }
  return FULL;
}
