// page-insert: puts items into pages that have entries, page by page.
//
// A workgroup owns its page: it loads the slots into workgroup memory, walks, claims and combines values there as insert.wgsl
// and apply.wgsl do in the table, and writes the slots that changed back. The reasons given there hold here: items with one key
// cannot pass each other, and tombstones are taken only (REUSE) after all items were looked up. Walks that reach the page's end, keys that
// live in side slots, and items beyond the invocations' registers are spilled.
// Bytes per slot: 8 read, and 8 written where it changed (sets: 4, 4); per item 8 read (sets: 4).

override WORKGROUP: u32 = 256u;
override CAPACITY: u32 = WORKGROUP * ITEMS;
/// There are tombstones, and they may be taken.
override REUSE: bool = false;
/// Keys that are there keep their values.
override KEEP: bool = false;

@group(0) @binding(2) var<storage, read_write> slots: array<Item>;
@group(0) @binding(4) var<storage, read> items: array<Item>;

alias Word = u32;
/// Key words of the page. Its values are in `merged`.
var<workgroup> table: array<atomic<Word>, PAGE>;
var<workgroup> inserted: atomic<u32>;
var<workgroup> reused: atomic<u32>;
var<workgroup> longest: atomic<u32>;

/// Spurious failures that an item takes before it is spilled.
const SPURIOUS_LIMIT: u32 = 256u;

/// Slots that the longest walk to a claimed slot looked at.
var<private> myLongest: u32;

fn combine(slot: u32, item: Item) {
  if (SLOT_WORDS == 2u && !merge(slot, itemValue(item))) { spill(item); }
}

/// Combines the item's value with that of its key.
fn meet(slot: u32, item: Item) {
  if (!KEEP) { combine(slot, item); }
}

fn keyAt(slot: u32) -> u32 { return atomicLoad(&table[slot]); }

/// Tombstones are taken: once it is known which keys are there.
var<private> takesTombstones: bool;

fn endsWalk(word: u32, key: u32) -> bool {
  return word == key || word == EMPTY || (REUSE && takesTombstones && word == TOMBSTONE);
}

/// True when the item's key is not in the table. Items whose keys are there are done.
fn isAbsent(item: Item) -> bool {
  let key = itemKey(item);
  if (key < TOMBSTONE) {
    let slot = seek(homeOf(key) - mine.slot, key);
    if (slot < mine.slots) {
      if (keyAt(slot) == EMPTY) { return true; }
      meet(slot, item);
      return false;
    }
  }
  spill(item);
  return false;
}

/// Finds the item's key, or claims a slot for it.
fn insertItem(item: Item) {
  let key = itemKey(item);
  if (key < TOMBSTONE) {
    let home = homeOf(key) - mine.slot;
    var spurious = 0u;
    for (var slot = seek(home, key); slot < mine.slots && spurious < SPURIOUS_LIMIT; slot = seek(slot, key)) {
      // another item may have taken the slot since
      let before = keyAt(slot);
      if (before == key) {
        meet(slot, item);
        return;
      }
      if (before < TOMBSTONE) { continue; }
      let claim = compareExchange(slot, before, key);
      if (claim.stored) {
        combine(slot, item);
        myLongest = max(myLongest, slot - home + 1u);
        return;
      }
      spurious += u32(claim.old == before);
    }
  }
  spill(item);
}

/// What a slot holds until it is claimed: its own value, or what a fresh slot's is combined with.
fn valueBefore(item: Item) -> Value {
  return bitcast<Value>(select(itemValue(item), params.fill, itemKey(item) >= TOMBSTONE));
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
  var held: array<Item, HELD>;
  for (var i = 0u; i < HELD; i++) { held[i] = slots[mine.at + min(i * WORKGROUP + local, max(mine.slots, 1u) - 1u)]; }
  for (var i = 0u; i < HELD; i++) {
    let slot = i * WORKGROUP + local;
    atomicStore(&table[slot], itemKey(held[i]));
    if (SLOT_WORDS == 2u) { atomicStore(&merged[slot], valueBefore(held[i])); }
  }
  workgroupBarrier();
  var absent: array<bool, ITEMS>;
  if (REUSE) {
    for (var i = 0u; i < ITEMS; i++) { absent[i] = i * WORKGROUP + local < mine.items && isAbsent(item[i]); }
    workgroupBarrier();
    takesTombstones = true;
    for (var i = 0u; i < ITEMS; i++) {
      if (absent[i]) { insertItem(item[i]); }
    }
  } else {
    for (var i = 0u; i < ITEMS; i++) {
      if (i * WORKGROUP + local < mine.items) { insertItem(item[i]); }
    }
  }
  for (var beyond = CAPACITY + local; beyond < mine.items; beyond += WORKGROUP) { spill(items[mine.first + beyond]); }
  workgroupBarrier();
  var claimed = 0u;
  var tombstones = 0u;
  for (var i = 0u; i < HELD; i++) {
    let slot = i * WORKGROUP + local;
    let before = itemKey(held[i]);
    let key = atomicLoad(&table[slot]);
    var value = 0u;
    if (SLOT_WORDS == 2u) { value = bitcast<u32>(atomicLoad(&merged[slot])); }
    if (slot >= mine.slots || key >= TOMBSTONE || (key == before && value == itemValue(held[i]))) { continue; }
    slots[mine.at + slot] = makeItem(key, value);
    claimed += u32(key != before);
    tombstones += u32(before == TOMBSTONE);
  }
  if (claimed > 0u) { atomicAdd(&inserted, claimed); }
  if (tombstones > 0u) { atomicAdd(&reused, tombstones); }
  if (myLongest > 0u) { atomicMax(&longest, myLongest); }
  workgroupBarrier();
  if (local != 0u || atomicLoad(&inserted) == 0u) { return; }
  atomicAdd(&control.inserted, atomicLoad(&inserted));
  atomicAdd(&control.occupied, atomicLoad(&inserted));
  if (REUSE) { atomicAdd(&control.reused, atomicLoad(&reused)); }
  if (atomicLoad(&longest) > atomicLoad(&control.maxProbe)) { atomicMax(&control.maxProbe, atomicLoad(&longest)); }
}
