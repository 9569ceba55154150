// insert, insertOrAssign, insertOrAdd and erase for users' own kernels, on tables of keys of one word or two. A
// fragment of find.wgsl after changing (slot-code.ts), cas.wgsl, and claim-word.wgsl or claim-words.wgsl.
//
// Shares the table with all invocations of the dispatch, whichever functions they call. A slot's state word goes from
// EMPTY to that of a key to TOMBSTONE, and no further: inserts pass tombstones by. So a slot that a probe has passed
// never comes to hold its key, a key is in one slot at most, and what each call answers about keys is what some order
// of the calls, one after another, would answer. A side slot goes from EMPTY to present and back, by itself. Nobody
// waits: a value is stored after its key, so another invocation of the dispatch may meet the key first. Loops are
// bounded by the longest probe, by FREE_WITHIN, and by SPURIOUS_LIMIT. The longest probe is raised by whoever inserts a
// key and by whoever meets it further on, so an invocation finds what it has inserted or met.

/// What inserts answer. FULL: the key is not in the table, since none of the FREE_WITHIN slots from its home on is
/// free.
const FULL: u32 = 0u;
const INSERTED: u32 = 1u;
const EXISTING: u32 = 2u;

/// Slots from home in which an insert looks for a free one at least: in smaller tables all. At load 0.95 probes of
/// hundreds are the longest.
const FREE_WITHIN: u32 = 8192u;
/// Compare-exchanges of one call that fail because another key took the slot, or for no reason.
const SPURIOUS_LIMIT: u32 = 65536u;

/// Slots of the table, from the size of its binding.
fn slotCount() -> u32 { return arrayLength(&table) / SLOT_WORDS - SIDE_SLOTS; }

fn longestProbe() -> u32 { return atomicLoad(&control[MAX_PROBE_WORD]); }

fn hashSeed() -> u32 { return atomicLoad(&control[SEED_WORD]); }

/// Sees to it that probes go on to this step.
fn reachTo(step: u32) {
  if (longestProbe() <= step) { atomicMax(&control[MAX_PROBE_WORD], step + 1u); }
}

/// Where a key is, after claim: the slot, and FULL, INSERTED or EXISTING.
struct Place {
  slot: u32,
  outcome: u32,
}

/// Puts a key into the table, if it is not there.
fn claim(bits: Key) -> Place {
  var probe = startProbe(bits, max(longestProbe(), min(slotCount(), FREE_WITHIN)));
  var failures = 0u;
  while (probe.step < probe.limit && failures < SPURIOUS_LIMIT) {
    let state = lookAt(probe.slot);
    if (state == EMPTY || state == probe.word) {
      if (!probe.side) { reachTo(probe.step); }
      if (state == EMPTY && !compareExchange(probe.slot * SLOT_WORDS, EMPTY, probe.word).stored) {
        // for no reason, or because another invocation took the slot, which is looked at again
        failures++;
        continue;
      }
      let outcome = complete(probe.slot, state == EMPTY, bits);
      if (outcome == INSERTED) { atomicAdd(&control[select(INSERTED_WORD, SIDEINSERTED_WORD, probe.side)], 1u); }
      if (outcome != FULL) { return Place(probe.slot, outcome); }
    }
    probe.slot = slotAfter(probe.slot);
    probe.step++;
  }
  return Place(0u, FULL);
}

/// Where the value of a slot begins.
fn valueWord(slot: u32) -> u32 { return slot * SLOT_WORDS + VALUE_OFFSET; }

/// Takes a key out. True for the one of several calls that did.
fn erase(key: KeyType) -> bool {
  let bits = bitsOf(key);
  var probe = startProbe(bits, longestProbe());
  var failures = 0u;
  while (probe.step < probe.limit && failures < SPURIOUS_LIMIT) {
    let state = lookAt(probe.slot);
    if (state == EMPTY) { return false; }
    if (!holds(probe.slot, state, probe, bits)) {
      probe.slot = slotAfter(probe.slot);
      probe.step++;
      continue;
    }
    let exchange = compareExchange(probe.slot * SLOT_WORDS, state, select(TOMBSTONE, EMPTY, probe.side));
    if (exchange.stored) {
      if (probe.side) { clearSide(probe.slot); } else { atomicAdd(&control[ERASED_WORD], 1u); }
      return true;
    }
    // somebody else has erased it
    if (exchange.old != state) { return false; }
    failures++;
  }
  return false;
}

/// An absent key's side slot has an EMPTY value.
fn clearSide(slot: u32) {
  atomicAdd(&control[SIDEERASED_WORD], 1u);
  for (var i = 0u; i < VALUE_WORDS; i++) { atomicStore(&table[valueWord(slot) + i], EMPTY); }
}
