// page-erase: takes the keys of items out, page by page.
//
// A workgroup owns its page: it loads the state words into workgroup memory, probes there, and writes the words of
// erased keys back. Keys of several words are compared in the table, whose key words nobody writes. What was erased are
// the tombstones that it has then and had not before, so equal items count once. A TOMBSTONE with only tombstones
// between it and an EMPTY slot of the page holds nothing together, and becomes EMPTY: `reused` counts it as a tombstone
// gone. Probes that reach the page's end overflow; keys that live in side slots are left to the fallback. Bytes per
// slot: its own read, 4 written where it is a tombstone now, its own where it becomes EMPTY; per item those of the key
// read.

const CAPACITY: u32 = WORKGROUP * ITEMS;
/// Neighbouring slots that an invocation looks at for tombstones; 32 or fewer.
const RUN: u32 = PAGE / WORKGROUP;

/// State words of the page.
var<workgroup> table: array<atomic<u32>, PAGE>;
const WORDS: u32 = PAGE / 32u;
/// A bit for every slot of the page: those that hold a TOMBSTONE, those that are EMPTY, and tombstones that become
/// EMPTY.
var<workgroup> tombstones: array<atomic<u32>, WORDS>;
var<workgroup> empty: array<atomic<u32>, WORDS>;
var<workgroup> idle: array<u32, WORDS>;
/// Tombstones before, and now; and those of them that become EMPTY.
var<workgroup> before: atomic<u32>;
var<workgroup> now: atomic<u32>;
var<workgroup> cleared: atomic<u32>;
var<workgroup> aborted: bool;

/// Where a slot's state word lies: invocations that go over neighbouring slots each would all meet in few banks of
/// memory.
fn wordOf(slot: u32) -> u32 { return slot ^ ((slot >> 5u) & 7u); }

fn stateAt(slot: u32) -> u32 { return atomicLoad(&table[wordOf(slot)]); }

/// Takes an item's key out.
fn erase(item: Item) {
  let key = itemKey(item);
  if (isSide(key)) {
    fallBack(item);
    return;
  }
  let state = stateOf(key);
  // where another key has the same state word, or somebody has just erased it, the probe goes on
  for (var slot = homeOfState(state) - mine.slot; ; slot++) {
    slot = seek(slot, state);
    if (slot >= mine.slots) {
      noteOverflow(atomicAdd(&overflowed, 1u), item);
      return;
    }
    let word = stateAt(slot);
    if (word == EMPTY) { return; }
    if (word != state || !sameKey(keyIn(slots[mine.at + slot]), key)) { continue; }
    atomicStore(&table[wordOf(slot)], TOMBSTONE);
    return;
  }
}

/// Notes the tombstones and EMPTY slots of an invocation's run.
fn noteRun(local: u32) {
  let first = local * RUN;
  var tombs = 0u;
  var empties = 0u;
  for (var i = 0u; i < RUN; i++) {
    let word = stateAt(first + i);
    tombs |= u32(word == TOMBSTONE) << i;
    empties |= u32(word == EMPTY) << i;
  }
  atomicOr(&tombstones[first / 32u], tombs << (first % 32u));
  atomicOr(&empty[first / 32u], empties << (first % 32u));
}

/// True when nothing but tombstones lies between the first slot of a word and an EMPTY slot of the page.
fn leadsToEmpty(first: u32) -> bool {
  for (var word = first; word < WORDS; word++) {
    let passed = countTrailingZeros(~atomicLoad(&tombstones[word]));
    if (passed < 32u) { return ((atomicLoad(&empty[word]) >> passed) & 1u) != 0u; }
  }
  return false;
}

/// The tombstones of a word that no probe needs.
fn idleOf(word: u32) -> u32 {
  // backwards, an addition carries from the EMPTY slot through the tombstones before it
  let tombs = reverseBits(atomicLoad(&tombstones[word]));
  let behind = (reverseBits(atomicLoad(&empty[word])) << 1u) | u32(leadsToEmpty(word + 1u));
  return reverseBits(((tombs + (behind & tombs)) ^ tombs) & tombs);
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  mine = pageOf(grid);
  var item: array<Item, ITEMS>;
  for (var i = 0u; i < ITEMS; i++) { item[i] = items[mine.first + min(i * WORKGROUP + local, max(mine.items, 1u) - 1u)]; }
  for (var slot = local; slot < PAGE; slot += WORKGROUP) {
    // the last page is shorter: what lies behind it is no page's
    let word = select(0u, stateIn(slots[mine.at + min(slot, max(mine.slots, 1u) - 1u)]), slot < mine.slots);
    atomicStore(&table[wordOf(slot)], word);
    if (word == TOMBSTONE) { atomicAdd(&before, 1u); }
  }
  if (local == 0u) { aborted = isAborted(); }
  if (workgroupUniformLoad(&aborted)) { return; }
  for (var i = 0u; i < ITEMS; i++) {
    if (i * WORKGROUP + local < mine.items) { erase(item[i]); }
  }
  for (var beyond = CAPACITY + local; beyond < mine.items; beyond += WORKGROUP) { erase(items[mine.first + beyond]); }
  workgroupBarrier();
  if (local == 0u) { countOverflow(); }
  noteRun(local);
  workgroupBarrier();
  for (var word = local; word < WORDS; word += WORKGROUP) {
    idle[word] = idleOf(word);
    atomicAdd(&now, countOneBits(atomicLoad(&tombstones[word])));
    atomicAdd(&cleared, countOneBits(idle[word]));
  }
  workgroupBarrier();
  for (var slot = local; slot < mine.slots; slot += WORKGROUP) {
    let bit = 1u << (slot % 32u);
    if ((atomicLoad(&tombstones[slot / 32u]) & bit) == 0u) { continue; }
    if ((idle[slot / 32u] & bit) == 0u) { setState(mine.at + slot, TOMBSTONE); } else { setEmpty(mine.at + slot); }
  }
  if (local != 0u) { return; }
  let erased = atomicLoad(&now) - atomicLoad(&before);
  if (atomicLoad(&cleared) > 0u) { atomicAdd(&control.reused, atomicLoad(&cleared)); }
  if (erased == 0u) { return; }
  atomicAdd(&control.erased, erased);
  atomicSub(&control.occupied, erased);
}
