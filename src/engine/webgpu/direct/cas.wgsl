// Compare-exchange on a word of the table, of type `Word`. Tests put a variant in this fragment's place that fails at
// random, as Metal's may.

/// What a compare-exchange saw and whether it stored. Not stored with `old` as expected is a spurious failure: the same
/// word has to be tried again, since moving on would store a key twice.
struct Claim {
  old: u32,
  stored: bool,
}

fn compareExchange(word: u32, expected: u32, desired: u32) -> Claim {
  let result = atomicCompareExchangeWeak(&table[word], bitcast<Word>(expected), bitcast<Word>(desired));
  return Claim(bitcast<u32>(result.old_value), result.exchanged);
}
