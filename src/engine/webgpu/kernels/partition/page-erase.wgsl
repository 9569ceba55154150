// page-erase: takes the keys of items out, page by page.
//
// A workgroup owns its page: it loads the key words into workgroup memory, walks there, and writes the words of erased keys
// back. Of equal items one counts, by an exchange in workgroup memory. A TOMBSTONE with only tombstones between it and an EMPTY
// slot of the page holds nothing together, and becomes EMPTY: `reused` counts it as a tombstone gone. Walks that reach
// the page's end overflow; keys that live in side slots are spilled.
// Bytes per slot: 8 read, 4 written where it is a tombstone now (sets: 4, 4); per item 4 read.

override WORKGROUP: u32 = 256u;
override CAPACITY: u32 = WORKGROUP * ITEMS;
/// Neighbouring slots that an invocation looks at for tombstones; at most 32.
override RUN: u32 = PAGE / WORKGROUP;

@group(0) @binding(2) var<storage, read_write> slots: array<Slot>;
@group(0) @binding(4) var<storage, read> items: array<Item>;

/// Key words of the page.
var<workgroup> table: array<atomic<u32>, PAGE>;
/// A bit for every slot of a run that was a tombstone.
var<workgroup> changed: array<u32, WORKGROUP>;
var<workgroup> erased: atomic<u32>;
var<workgroup> cleared: atomic<u32>;

/// Tombstones beyond its own that an invocation looks past for an EMPTY slot.
const MOST_PASSED: u32 = 32u;

/// Where a slot's key word lies: invocations that go over neighbouring slots each would all meet in few banks of memory.
fn wordOf(slot: u32) -> u32 { return slot ^ ((slot >> 5u) & 7u); }

fn keyAt(slot: u32) -> u32 { return atomicLoad(&table[wordOf(slot)]); }

/// True when the item's key was there and this item took it out.
fn erase(item: Item) -> bool {
  let key = itemKey(item);
  if (key >= TOMBSTONE) {
    spill(item);
    return false;
  }
  for (var slot = homeOf(key) - mine.slot; slot < mine.slots; slot++) {
    let seen = keyAt(slot);
    if (seen == EMPTY) { return false; }
    if (seen == key) { return atomicExchange(&table[wordOf(slot)], TOMBSTONE) == key; }
  }
  noteOverflow(atomicAdd(&overflowed, 1u), item);
  return false;
}

/// True when nothing but tombstones lies between `slot` and an EMPTY slot of the page.
fn leadsToEmpty(slot: u32) -> bool {
  for (var next = slot; next < min(mine.slots, slot + MOST_PASSED); next++) {
    let word = keyAt(next);
    if (word != TOMBSTONE) { return word == EMPTY; }
  }
  return false;
}

/// Empties the tombstones of an invocation's run that no walk needs. How many.
fn clearRun(local: u32) -> u32 {
  let first = local * RUN;
  var idle = leadsToEmpty(first + RUN);
  var were = 0u;
  var count = 0u;
  for (var i = RUN; i > 0u; i--) {
    let slot = first + i - 1u;
    let word = keyAt(slot);
    if (word == TOMBSTONE) {
      were |= 1u << (i - 1u);
      count += u32(idle);
    } else {
      idle = word == EMPTY;
    }
    // neighbours may see a tombstone of this run as EMPTY already: it leads to EMPTY all the same
    if (word == TOMBSTONE && idle) { atomicStore(&table[wordOf(slot)], EMPTY); }
  }
  changed[local] = were;
  return count;
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  mine = pageOf(workgroup, workgroups);
  var item: array<Item, ITEMS>;
  for (var i = 0u; i < ITEMS; i++) { item[i] = items[mine.first + min(i * WORKGROUP + local, max(mine.items, 1u) - 1u)]; }
  for (var slot = local; slot < PAGE; slot += WORKGROUP) {
    // the last page is shorter: what lies behind it is no page's
    atomicStore(&table[wordOf(slot)], select(0u, keyWord(slots[mine.at + min(slot, max(mine.slots, 1u) - 1u)]), slot < mine.slots));
  }
  workgroupBarrier();
  var count = 0u;
  for (var i = 0u; i < ITEMS; i++) {
    if (i * WORKGROUP + local < mine.items && erase(item[i])) { count++; }
  }
  for (var beyond = CAPACITY + local; beyond < mine.items; beyond += WORKGROUP) {
    if (erase(items[mine.first + beyond])) { count++; }
  }
  if (count > 0u) { atomicAdd(&erased, count); }
  workgroupBarrier();
  if (local == 0u) { countOverflow(); }
  let idle = clearRun(local);
  if (idle > 0u) { atomicAdd(&cleared, idle); }
  workgroupBarrier();
  for (var slot = local; slot < mine.slots; slot += WORKGROUP) {
    if (((changed[slot / RUN] >> (slot % RUN)) & 1u) != 0u) { setKeyWord(mine.at + slot, keyAt(slot)); }
  }
  if (local == 0u && atomicLoad(&cleared) > 0u) { atomicAdd(&control.reused, atomicLoad(&cleared)); }
  if (local == 0u && atomicLoad(&erased) > 0u) {
    atomicAdd(&control.erased, atomicLoad(&erased));
    atomicSub(&control.occupied, atomicLoad(&erased));
  }
}
