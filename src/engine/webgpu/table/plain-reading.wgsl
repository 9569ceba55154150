// Reading slots of `table: array<Slot>`: a plain table's, see slot-code.ts.

/// What a probe sees of a slot: here all of it.
alias Look = Slot;
fn lookAt(at: u32) -> Look { return table[at]; }
fn stateSeen(look: Look) -> u32 { return stateIn(look); }
/// Whether the slot at `at` of the binding, whose state word is `state`, holds a key.
fn holds(at: u32, state: u32, probe: Probe, key: Key) -> bool { return state == probe.word; }
