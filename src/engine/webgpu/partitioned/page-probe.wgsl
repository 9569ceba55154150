// Probes within a page, whose key words are in workgroup memory. A fragment after page.wgsl, for modules with keyAt (the key word of
// a slot) and endsProbe (whether a key word ends the probe of a key).

/// The first slot from `start` on where a key's probe ends; no slot of the page when it goes on behind that. Looks at STEP slots at a
/// time: what long probes wait for is memory, one slot after the other.
fn seek(start: u32, key: u32) -> u32 {
  for (var slot = start; slot < mine.slots; slot += STEP) {
    var word: array<u32, STEP>;
    for (var i = 0u; i < STEP; i++) { word[i] = keyAt(min(slot + i, PAGE - 1u)); }
    for (var i = 0u; i < STEP; i++) {
      if (endsProbe(word[i], key)) { return slot + i; }
    }
  }
  return PAGE;
}
