// page-erase: takes the keys of items out, page by page.
//
// A workgroup owns its page: it loads the key words into workgroup memory, walks there, and writes the words of erased keys
// back. Of equal items one counts, by an exchange in workgroup memory. A TOMBSTONE with only tombstones, and few of them,
// between it and an EMPTY slot of the page holds nothing together, and becomes EMPTY: `reused` counts it as a tombstone gone. What reaches the
// page's end is spilled, and so are keys that live in side slots.
// Bytes per slot: 8 read, 4 written where it is a tombstone now (sets: 4, 4); per item 4 read.

override WORKGROUP: u32 = 512u;

@group(0) @binding(2) var<storage, read_write> slots: array<Slot>;
@group(0) @binding(4) var<storage, read> items: array<Item>;

/// Key words of the page.
var<workgroup> table: array<atomic<u32>, PAGE>;
var<workgroup> erased: atomic<u32>;
var<workgroup> cleared: atomic<u32>;
var<private> mine: Page;

/// Tombstones that are looked past for an EMPTY slot.
const MOST_CLEARED: u32 = 8u;

/// True for a TOMBSTONE that no walk needs.
fn isIdle(slot: u32) -> bool {
  for (var next = slot + 1u; next < min(mine.slots, slot + MOST_CLEARED); next++) {
    let word = atomicLoad(&table[next]);
    if (word != TOMBSTONE) { return word == EMPTY; }
  }
  return false;
}

/// True when the item's key was there and this item took it out.
fn erase(item: Item) -> bool {
  let key = itemKey(item);
  if (key >= TOMBSTONE) {
    spill(item);
    return false;
  }
  for (var slot = homeOf(key) - mine.slot; slot < mine.slots; slot++) {
    let seen = atomicLoad(&table[slot]);
    if (seen == EMPTY) { return false; }
    if (seen == key) { return atomicExchange(&table[slot], TOMBSTONE) == key; }
  }
  spill(item);
  return false;
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  mine = pageOf(workgroup, workgroups);
  for (var slot = local; slot < mine.slots; slot += WORKGROUP) { atomicStore(&table[slot], keyWord(slots[mine.at + slot])); }
  workgroupBarrier();
  var count = 0u;
  for (var at = local; at < mine.items; at += WORKGROUP) {
    if (erase(items[mine.first + at])) { count++; }
  }
  if (count > 0u) { atomicAdd(&erased, count); }
  workgroupBarrier();
  var idle = 0u;
  for (var slot = local; slot < mine.slots; slot += WORKGROUP) {
    if (atomicLoad(&table[slot]) != TOMBSTONE) { continue; }
    let clears = isIdle(slot);
    setKeyWord(mine.at + slot, select(TOMBSTONE, EMPTY, clears));
    if (clears) { idle++; }
  }
  if (idle > 0u) { atomicAdd(&cleared, idle); }
  workgroupBarrier();
  if (local == 0u && atomicLoad(&cleared) > 0u) { atomicAdd(&control.reused, atomicLoad(&cleared)); }
  if (local == 0u && atomicLoad(&erased) > 0u) {
    atomicAdd(&control.erased, atomicLoad(&erased));
    atomicSub(&control.occupied, atomicLoad(&erased));
  }
}
