// Claiming a slot for a key of two words, word by word. A fragment of change.wgsl.
//
// A slot is claimed for a tag first, then for each word of a key that is not EMPTY, in their order: each of these goes
// from EMPTY to what it stays, by compare-exchange. The tag says which words of the key are EMPTY, so of a claimed slot
// everybody sees which words are still to be written. Whoever has the tag and the words that are written may write the
// next one; the key that gets its last word in has the slot, and the others pass it by. So two invocations with one key
// write the same words, and only one of them the last. No word tells more than itself: nothing depends on the order in
// which others see words that were written. An invocation that wrote a word goes on with the next, and stops at one
// that another has written: so when a dispatch ends every claimed slot has a key, but where SPURIOUS_LIMIT
// compare-exchanges in a row have failed for no reason.

/// What a slot with the tag of a key becomes to it: INSERTED for the invocation that has written its last word,
/// EXISTING if that was another one, FULL where another key has the slot.
/// @param isMine this invocation has written the tag
fn complete(slot: u32, isMine: bool, bits: Key) -> u32 {
  var outcome = select(EXISTING, INSERTED, isMine);
  for (var i = 0u; i < KEY_WORDS; i++) {
    if (bits[i] == EMPTY) { continue; }
    let word = slot * SLOT_WORDS + KEY_OFFSET + i;
    outcome = EXISTING;
    var seen = atomicLoad(&table[word]);
    for (var failures = 0u; seen == EMPTY && failures < SPURIOUS_LIMIT; failures++) {
      let exchange = compareExchange(word, EMPTY, bits[i]);
      seen = exchange.old;
      if (exchange.stored) {
        seen = bits[i];
        outcome = INSERTED;
      }
    }
    if (seen != bits[i]) { return FULL; }
  }
  return outcome;
}
