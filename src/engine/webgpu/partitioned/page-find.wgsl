// page-find: looks items up, page by page, in a table whose entries are in the order of their homes.
//
// A workgroup owns its page: it goes over the slots and notes for every home the first one with an entry of that home,
// so that a lookup starts at its own entries, however full the table is; by then these are in the first cache. For each
// item it leaves the value of its key, or ABSENT, or OPEN for a key that has to be looked up
// elsewhere: one that lives in a side slot, whose probe leaves what is bound or goes far behind the page, or whose value
// begins with one of these. Only reads the table. Bytes per slot: its own read; per item those of the key read and of the
// value written.

/// By home: PAGE less the first slot with an entry of that home; 0 for none. (With the slots themselves in workgroup
/// memory, too, so few workgroups ran side by side that all took three times as long.)
var<workgroup> firsts: array<atomic<u32>, PAGE>;
/// 1 more than the last EMPTY slot; 0 for none.
var<workgroup> lastEmpty: atomic<u32>;

/// Slots behind the page that a probe looks at: a dispatch is not to run long.
const MOST_BEHIND: u32 = 2048u;

/// What is left for a key that is there.
fn answerOf(entry: Slot, key: Key) -> Found {
  let value = foundIn(entry, key);
  let word = firstWord(value);
  if (word == ABSENT || word == OPEN) { return asFound(OPEN); }
  return value;
}

/// True for the entry of a key whose state word is `state`.
fn isEntryOf(entry: Slot, state: u32, key: Key) -> bool { return stateIn(entry) == state && sameKey(keyIn(entry), key); }

/// Slots of the window.
fn windowEnd() -> u32 { return min(params.pages * PAGE, params.slots - params.windowFirst); }

/// The slot number `at` from the window's first one on, which may be behind the last.
fn slotAt(at: u32) -> Slot {
  let end = windowEnd();
  if (at < end) { return slots[at]; }
  return behind[min(at - end, params.behind - 1u)];
}

/// Goes on with the probe of a key behind the page. (Looking at several slots a step was slower.)
fn findBehind(key: Key, state: u32, home: u32) -> Found {
  let passed = mine.slot + mine.slots - home;
  for (var step = passed; step < params.maxProbe; step++) {
    let at = mine.at + mine.slots + step - passed;
    if (at >= windowEnd() + params.behind || step - passed == MOST_BEHIND) { return asFound(OPEN); }
    let entry = slotAt(at);
    let word = stateIn(entry);
    if (isEntryOf(entry, state, key)) { return answerOf(entry, key); }
    if (word == EMPTY) { break; }
    if (word == TOMBSTONE) { continue; }
    // a key of a later home
    let slot = select(home + step, home - (params.slots - step), step >= params.slots - home);
    let other = homeOfState(word);
    if (slot - other + select(0u, params.slots, slot < other) < step) { break; }
  }
  return asFound(ABSENT);
}

/// What is left for a key of the page.
fn find(key: Key) -> Found {
  if (isSide(key)) { return asFound(OPEN); }
  let state = stateOf(key);
  let home = homeOfState(state);
  let own = home - mine.slot;
  let first = atomicLoad(&firsts[own]);
  if (first == 0u) {
    if (own < atomicLoad(&lastEmpty)) { return asFound(ABSENT); }
    return findBehind(key, state, home);
  }
  for (var slot = PAGE - first; slot < mine.slots; slot++) {
    let entry = slots[mine.at + slot];
    let word = stateIn(entry);
    if (isEntryOf(entry, state, key)) { return answerOf(entry, key); }
    if (word != TOMBSTONE && (word == EMPTY || homeOfState(word) != home)) { return asFound(ABSENT); }
  }
  return findBehind(key, state, home);
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  mine = pageOf(grid);
  var entry: array<Slot, HELD>;
  for (var i = 0u; i < HELD; i++) { entry[i] = slots[mine.at + min(i * WORKGROUP + local, max(mine.slots, 1u) - 1u)]; }
  var empty = 0u;
  for (var i = 0u; i < HELD; i++) {
    let slot = i * WORKGROUP + local;
    if (slot >= mine.slots) { continue; }
    let word = stateIn(entry[i]);
    if (word == EMPTY) { empty = slot + 1u; }
    // entries of earlier pages may lie at the page's beginning, and in the table's only page its own last ones
    let own = select(homeOfState(word) - mine.slot, PAGE, word >= TOMBSTONE);
    if (own <= slot) { atomicMax(&firsts[own], PAGE - slot); }
  }
  if (empty > 0u) { atomicMax(&lastEmpty, empty); }
  workgroupBarrier();
  for (var base = local; base < mine.items; base += ITEMS * WORKGROUP) {
    var item: array<Item, ITEMS>;
    for (var i = 0u; i < ITEMS; i++) { item[i] = items[mine.first + min(base + i * WORKGROUP, mine.items - 1u)]; }
    for (var i = 0u; i < ITEMS; i++) {
      let at = base + i * WORKGROUP;
      if (at < mine.items) { results[mine.first + at] = find(itemKey(item[i])); }
    }
  }
}
