// Compare-exchange on what distinct.wgsl remembers. Tests put a variant in this fragment's place that fails at random,
// as Metal's may.

/// What was there before, and whether the word is there now.
struct Exchange {
  old: u32,
  stored: bool,
}

/// Puts a word where there is none.
fn exchangeSeen(at: u32, word: u32) -> Exchange {
  let result = atomicCompareExchangeWeak(&seen[at], 0u, word);
  return Exchange(result.old_value, result.exchanged);
}
