// erase: puts a TOMBSTONE in place of every key that is there.
//
// Four keys an invocation, 256 invocations a workgroup. Shares the table.
// Races: only with other erases. A key word changes once, from the key to TOMBSTONE (a side slot: to EMPTY), by
// compare-exchange, so of several invocations with one key exactly one counts it. No slot comes to hold a key: what a
// probe has passed needs no second look when a later dispatch goes on with it. Bytes per key at load 0.5: 4 read (once
// per window), one sector of 32 read and written back.


/// Spurious failures that one element takes before it is left to a later dispatch.
const SPURIOUS_LIMIT: u32 = 256u;

/// Keys that this invocation, and then its workgroup, took out of the probing table.
var<private> myErased: u32;
var<workgroup> erased: atomic<u32>;

/// How often compare-exchange has failed for the element that is worked on.
var<private> failures: u32;

fn meet(element: u32, at: u32, step: u32, side: bool, key: Key) -> u32 {
  let state = select(stateOf(key), SIDE_PRESENT, side);
  let claim = compareExchange(at * SLOT_WORDS, state, select(TOMBSTONE, EMPTY, side));
  if (claim.stored) {
    if (side) { clearSide(at); } else { myErased++; }
    return HELD;
  }
  // somebody else has erased it
  if (claim.old != state) { return MISSED; }
  failures++;
  return select(AGAIN, MISSED, failures == SPURIOUS_LIMIT);
}

/// An absent key's side slot has an EMPTY value: see engine/layout.ts.
fn clearSide(at: u32) {
  atomicAdd(&control.sideErased, 1u);
  for (var i = 0u; i < VALUE_WORDS; i++) { atomicStore(&table[at * SLOT_WORDS + VALUE_OFFSET + i], bitcast<Word>(EMPTY)); }
}

fn miss(element: u32, probe: Probe, state: u32) -> u32 { return MISSED; }

fn eraseElement(element: u32, key: Key, start: Probe) {
  var probe = start;
  failures = 0u;
  let done = advance(&probe, key, element, min(probe.limit, params.stepBudget));
  if ((done == AGAIN && probe.step < probe.limit) || failures == SPURIOUS_LIMIT) { _ = leaveUnfinished(element, probe.step); }
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let thread = invocation(grid, local);
  for (var item = 0u; item < ITEMS; item++) {
    let element = elementAt(thread, item);
    if (element == NO_ELEMENT) { continue; }
    let key = keyOf(element);
    let probe = probeAt(thread, item, key, params.maxProbe);
    if (isBound(probe.slot)) { eraseElement(element, key, probe); }
  }
  if (myErased > 0u) { atomicAdd(&erased, myErased); }
  workgroupBarrier();
  if (local == 0u) {
    let gone = atomicLoad(&erased);
    if (gone > 0u) {
      atomicAdd(&control.erased, gone);
      atomicSub(&control.occupied, gone);
    }
  }
}
