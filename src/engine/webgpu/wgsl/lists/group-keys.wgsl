// group keys: makes groups of items with equal keys, each within a tile of one page, where most keys are near their
// equals.
//
// 256 invocations a workgroup. They count in workgroup memory, in a hash table of the tile's keys; a key that finds no
// slot there is a group of its own each time that it comes. Owns its items' places. Takes the numbers of its groups by
// one addition. Bytes an item: its words read, and where values are to follow 4 written, read, and written again; 8
// written a group.

const SLOTS: u32 = 1024u;
/// Slots that are looked at for a key.
const STEPS: u32 = 128u;
/// Marks an empty slot. Keys that are this one are counted behind the slots.
const NO_KEY: u32 = 0xffffffffu;

var<workgroup> slotKeys: array<atomic<u32>, SLOTS>;
var<workgroup> slotItems: array<atomic<u32>, SLOTS + 1u>;
var<workgroup> slotGroups: array<u32, SLOTS + 1u>;
var<workgroup> groupsHere: atomic<u32>;
var<workgroup> base: u32;

/// The slot of a key; above SLOTS when there is none.
fn slotOf(key: u32) -> u32 {
  if (key == NO_KEY) { return SLOTS; }
  var slot = (key * 0x9e3779b1u) >> 22u;
  for (var step = 0u; step < STEPS; step++) {
    let found = atomicLoad(&slotKeys[slot]);
    if (found == key) { return slot; }
    if (found == NO_KEY) {
      let result = atomicCompareExchangeWeak(&slotKeys[slot], NO_KEY, key);
      if (result.exchanged || result.old_value == key) { return slot; }
      // a spurious failure: the same slot again
      if (result.old_value == NO_KEY) { continue; }
    }
    slot = (slot + 1u) % SLOTS;
  }
  return SLOTS + 1u;
}

/// Groups that there is no room for are counted, and lost: the host sees that, and has the batch inserted as it is.
fn putGroup(group: u32, key: u32, items: u32) {
  if (group >= params.total) { return; }
  groupKeys[group] = key;
  sizes[group] = items;
}

/// Counts an item, and notes its slot and how many of its key came before it.
fn count(at: u32, key: u32) {
  let slot = slotOf(key);
  if (slot > SLOTS) {
    let group = atomicAdd(&control.groups, 1u);
    putGroup(group, key, 1u);
    if (VALUED) { places[at] = ALONE | group; }
    return;
  }
  let rank = atomicAdd(&slotItems[slot], 1u);
  if (rank == 0u) { slotGroups[slot] = atomicAdd(&groupsHere, 1u); }
  if (VALUED) { places[at] = slot | (rank << GROUP_BITS); }
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let page = grid.workgroup.y;
  let pageEnd = endOf(page);
  for (var first = beginOf(page) + grid.workgroup.x * params.tile; first < pageEnd; first += grid.workgroups.x * params.tile) {
    for (var slot = local; slot < SLOTS; slot += WORKGROUP) { atomicStore(&slotKeys[slot], NO_KEY); }
    for (var slot = local; slot <= SLOTS; slot += WORKGROUP) { atomicStore(&slotItems[slot], 0u); }
    if (local == 0u) { atomicStore(&groupsHere, 0u); }
    workgroupBarrier();
    let end = min(first + params.tile, pageEnd);
    for (var start = first + local; start < end; start += WORKGROUP * EACH) {
      var key: array<u32, EACH>;
      for (var i = 0u; i < EACH; i++) { key[i] = itemKey(items[min(start + i * WORKGROUP, end - 1u)]); }
      for (var i = 0u; i < EACH; i++) {
        let at = start + i * WORKGROUP;
        if (at < end) { count(at, key[i]); }
      }
    }
    workgroupBarrier();
    if (local == 0u) {
      base = atomicAdd(&control.groups, atomicLoad(&groupsHere));
      if (VALUED) { tileGroups[tileNumber(page, first)] = base; }
    }
    workgroupBarrier();
    for (var slot = local; slot <= SLOTS; slot += WORKGROUP) {
      let rows = atomicLoad(&slotItems[slot]);
      if (rows == 0u) { continue; }
      var key = NO_KEY;
      if (slot < SLOTS) { key = atomicLoad(&slotKeys[slot]); }
      putGroup(base + slotGroups[slot], key, rows);
    }
    // from the slot to the group
    for (var at = first + local; VALUED && at < end; at += WORKGROUP) {
      let place = places[at];
      if (place < ALONE) { places[at] = slotGroups[place & GROUP_MASK] | (place & ~GROUP_MASK); }
    }
    workgroupBarrier();
  }
}
