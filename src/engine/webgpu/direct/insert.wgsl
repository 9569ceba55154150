// insert: claims a slot for every key that is not in the table yet.
//
// Four keys an invocation, 256 invocations a workgroup. Owns its elements' flags; shares the table.
// Races: any number of invocations claim slots at once. In the insert dispatches of a call a key word only ever changes
// from EMPTY or TOMBSTONE to a key, and each invocation tries every free slot of its probe in order, so two invocations
// with one key cannot pass each other: the later one meets the key, or loses the same slot to it. That holds from
// dispatch to dispatch: a slot that a probe has passed held another key, and does so until the call ends. So a later
// dispatch may go on where a probe was left, and an element that is handled once more meets its key. A TOMBSTONE may
// only be taken when the key is known not to lie behind it: with tombstones in the table (REUSE) a dispatch before the
// batch's first claim has looked all its keys up along their whole probes and left 1 in `known` at those that are
// there. Keys that arrive meanwhile fall under the argument above, so `known` serves all dispatches over the batch.
// Values are stored by the invocation that claims (and, with ASSIGN, by those that meet the key), so they are read in
// later dispatches only. Bytes per pair at load 0.5: 8 read (the key once per window), one sector of 32 read and
// written back.

/// Spurious failures that one element takes before it is left to a later dispatch.
const SPURIOUS_LIMIT: u32 = 256u;
/// The same for keys with a side slot; so many that none of them is left, since they have a slot in a full table, too.
const SIDE_SPURIOUS_LIMIT: u32 = 65536u;
/// Steps between two looks at the number of occupied slots. Claims after longer probes count as occupied at once, so
/// that other probes end soon after the last free slot is taken; those after shorter ones count when their workgroup
/// ends.
const FULL_CHECK: u32 = 64u;

/// What this invocation, and then its workgroup, did.
var<private> mySelected: u32;
var<private> myInserted: u32;
var<private> mySideInserted: u32;
var<private> myReused: u32;
var<private> myRejected: u32;
var<private> myLongest: u32;
var<workgroup> selected: atomic<u32>;
var<workgroup> inserted: atomic<u32>;
var<workgroup> longest: atomic<u32>;

/// Of the element that is worked on: how often it failed to insert its key, and the most that is borne.
var<private> failures: u32;
var<private> patience: u32;

fn meet(element: u32, at: u32, step: u32, side: bool, key: Key) -> u32 {
  if (ASSIGN) { storeValue(at * SLOT_WORDS, element); }
  return HELD;
}

fn miss(element: u32, probe: Probe, state: u32) -> u32 {
  let word = boundSlot(probe.slot) * SLOT_WORDS;
  if (compareExchange(word, state, claimOf(probe, element)).stored) {
    noteClaim(element, word, probe);
    countClaim(probe, state == TOMBSTONE);
    return MISSED;
  }
  // for no reason, or because another key took the slot, which is looked at again
  failures++;
  return select(AGAIN, HELD, failures >= patience);
}

/// Goes along a probe. True when the element inserted its key.
fn insertElement(element: u32, key: Key, start: Probe) -> bool {
  var probe = start;
  let stop = min(probe.limit, params.stepBudget);
  failures = 0u;
  patience = select(SPURIOUS_LIMIT, SIDE_SPURIOUS_LIMIT, probe.side);
  while (probe.step < stop && isBound(probe.slot)) {
    let done = advance(&probe, key, element, min(stop, probe.step + FULL_CHECK));
    if (done == MISSED) { return true; }
    if (failures >= patience) { break; }
    if (done == HELD) { return false; }
    // no slot is left to claim: the host looks such elements up
    if (atomicLoad(&control.occupied) >= params.slots) { break; }
  }
  if (probe.step < probe.limit) { _ = leaveUnfinished(element, probe.step); } else { myRejected++; }
  return false;
}

fn countClaim(probe: Probe, tombstone: bool) {
  if (probe.side) {
    mySideInserted++;
    return;
  }
  myReused += u32(tombstone);
  myLongest = max(myLongest, probe.step + 1u);
  if (probe.step < FULL_CHECK) {
    myInserted++;
    return;
  }
  atomicAdd(&control.inserted, 1u);
  atomicAdd(&control.occupied, 1u);
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let thread = invocation(grid, local);
  for (var item = 0u; item < ITEMS; item++) {
    let element = elementAt(thread, item);
    if (element == NO_ELEMENT) { continue; }
    let key = keyOf(element);
    let probe = probeAt(thread, item, key, params.slots);
    if (!isBound(probe.slot)) { continue; }
    mySelected++;
    if (REUSE && ((known[element / 4u] >> (element % 4u * 8u)) & 1u) == 1u) { continue; }
    if (insertElement(element, key, probe) && FLAGGED) {
      atomicOr(&flags[params.flagShift + element / 4u], 1u << (element % 4u * 8u));
    }
  }
  if (MASKED) { atomicAdd(&selected, mySelected); }
  if (myInserted > 0u) { atomicAdd(&inserted, myInserted); }
  if (myLongest > 0u) { atomicMax(&longest, myLongest); }
  // rare enough to go straight to the counters that all workgroups share
  if (mySideInserted > 0u) { atomicAdd(&control.sideInserted, mySideInserted); }
  if (myReused > 0u) { atomicAdd(&control.reused, myReused); }
  if (myRejected > 0u) { atomicAdd(&control.rejected, myRejected); }
  workgroupBarrier();
  if (local == 0u) {
    if (MASKED) { atomicAdd(&control.selected, atomicLoad(&selected)); }
    let claimed = atomicLoad(&inserted);
    if (claimed > 0u) {
      atomicAdd(&control.inserted, claimed);
      atomicAdd(&control.occupied, claimed);
    }
    let reach = atomicLoad(&longest);
    if (reach > atomicLoad(&control.maxProbe)) { atomicMax(&control.maxProbe, reach); }
  }
}
