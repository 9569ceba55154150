// Reading and changing slots of `table: array<atomic<Word>>`: a plain table's, see slot-code.ts.

/// What a probe sees of a slot: its state word.
alias Look = u32;
fn lookAt(at: u32) -> Look { return bitcast<u32>(atomicLoad(&table[at * SLOT_WORDS])); }
fn stateSeen(look: Look) -> u32 { return look; }
/// Whether the slot at `at` of the binding, whose state word is `state`, holds a key.
fn holds(at: u32, state: u32, probe: Probe, key: Key) -> bool { return state == probe.word; }
