// Probes within a page, whose state words are in workgroup memory. A fragment after page.wgsl, for modules with stateAt
// (the state word of a slot).

/// The first slot from `start` on that is EMPTY, or has the state word of a key; no slot of the page when a probe goes
/// on behind that. Looks at STEP slots at a time: what long probes wait for is memory, one slot after the other.
fn seek(start: u32, state: u32) -> u32 {
  for (var slot = start; slot < mine.slots; slot += STEP) {
    var word: array<u32, STEP>;
    for (var i = 0u; i < STEP; i++) { word[i] = stateAt(min(slot + i, PAGE - 1u)); }
    for (var i = 0u; i < STEP; i++) {
      if (word[i] == state || word[i] == EMPTY) { return slot + i; }
    }
  }
  return PAGE;
}
