// Claiming a slot by its key word: the invocation that claims stores the value behind it. A fragment of insert.wgsl.

fn claimOf(probe: Probe, element: u32) -> u32 { return probe.word; }

fn noteClaim(element: u32, word: u32, probe: Probe) { storeValue(word, element); }

fn storeValue(word: u32, element: u32) {
  for (var i = 0u; i < VALUE_WORDS; i++) {
    var value = select(params.fill, params.fillHigh, i == 1u);
    if (!FILL) { value = values[params.valueShift + element * VALUE_WORDS + i]; }
    atomicStore(&table[word + VALUE_OFFSET + i], value);
  }
}
