// propagate-build: makes room at the start of a page for what overflowed the page before it, by moving the page's
// entries on. So entries stay in the order of their homes, across pages too, and none comes far from home.
//
// After build, which has left out equal keys. A workgroup goes through some pages, and owns their slots; there is a
// dispatch for each page that overflow may go behind its own: what is moved out of a page is the overflow that the next
// one takes. Bytes per page: 8 read, and for every slot up to the last one that is filled 8 read and 8 written.

/// Pages of a workgroup.
const BORDERS: u32 = 16u;
/// Slots that are held in registers, twice: an entry is moved by less.
const BLOCK: u32 = 256u;
/// Slots, and items of overflow, that an invocation holds.
const EACH: u32 = BLOCK / WORKGROUP;
const EACH_OVER: u32 = (MOST_OVERFLOW + WORKGROUP - 1u) / WORKGROUP;

var<workgroup> counts: array<u32, BORDERS>;
/// A bit for every slot of the block that is empty.
var<workgroup> empty: array<atomic<u32>, BLOCK / 32u>;
var<workgroup> left: u32;
var<workgroup> longest: atomic<u32>;

alias Held = array<Slot, EACH>;

/// The slots of a block that an invocation holds; EMPTY behind the page.
fn hold(base: u32, end: u32, local: u32) -> Held {
  var held: Held;
  for (var i = 0u; i < EACH; i++) {
    let slot = base + i * WORKGROUP + local;
    held[i] = emptySlot();
    if (slot < end) { held[i] = table[slot]; }
  }
  return held;
}

/// How many of a block's slots before `slot` are empty.
fn emptyBefore(slot: u32) -> u32 {
  var count = 0u;
  for (var word = 0u; word < slot / 32u; word++) { count += countOneBits(atomicLoad(&empty[word])); }
  if (slot % 32u == 0u) { return count; }
  return count + countOneBits(atomicLoad(&empty[slot / 32u]) << (32u - slot % 32u));
}

/// Puts an entry at a slot of the binding, or where that is behind the page among what is left. Its probe length.
fn put(border: Border, slot: u32, entry: Slot) -> u32 {
  if (slot >= border.end) {
    leave(border, slot - border.end, itemIn(entry));
    return 0u;
  }
  table[slot] = entry;
  let home = homeOfState(stateIn(entry));
  let at = slot + params.windowFirst;
  return at - home + select(0u, params.slots, at < home) + 1u;
}

/// Puts `count` items in front of a page's entries. How many are left.
fn makeRoom(border: Border, count: u32, local: u32) -> u32 {
  var reach = 0u;
  var overflow: array<Item, EACH_OVER>;
  for (var i = 0u; i < EACH_OVER; i++) { overflow[i] = overflows[border.list + 1u + min(i * WORKGROUP + local, OVERFLOW - 1u)]; }
  // entries move by as many slots as there are items in front of them that have found no empty one
  var by = count;
  var held = hold(border.slot, border.end, local);
  for (var base = border.slot; base < border.end && by > 0u; base += BLOCK) {
    for (var i = 0u; i < EACH; i++) {
      let slot = i * WORKGROUP + local;
      if (base + slot < border.end && stateIn(held[i]) == EMPTY) { atomicOr(&empty[slot / 32u], 1u << (slot % 32u)); }
    }
    let next = hold(base + BLOCK, border.end, local);
    storageBarrier();
    workgroupBarrier();
    for (var i = 0u; i < EACH; i++) {
      let slot = i * WORKGROUP + local;
      let before = emptyBefore(slot);
      if (stateIn(held[i]) != EMPTY && before < by) { reach = max(reach, put(border, base + slot + by - before, held[i])); }
    }
    if (base == border.slot) {
      for (var i = 0u; i < EACH_OVER; i++) {
        let number = i * WORKGROUP + local;
        if (number < count) { reach = max(reach, put(border, base + number, slotFrom(overflow[i]))); }
      }
    }
    held = next;
    if (local == 0u) { left = by - min(by, emptyBefore(BLOCK)); }
    by = workgroupUniformLoad(&left);
    if (local < BLOCK / 32u) { atomicStore(&empty[local], 0u); }
    workgroupBarrier();
  }
  if (local == 0u) { countLeft(border, by); }
  if (reach > 0u) { atomicMax(&longest, reach); }
  return by;
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let first = workgroupOf(grid) * BORDERS;
  for (var n = local; n < BORDERS; n += WORKGROUP) { counts[n] = countAt(borderOf(first + n), first + n); }
  var placed = 0u;
  for (var n = 0u; n < BORDERS; n++) {
    let count = workgroupUniformLoad(&counts[n]);
    if (count > 0u) { placed += count - makeRoom(borderOf(first + n), count, local); }
  }
  workgroupBarrier();
  if (local != 0u) { return; }
  if (placed > 0u) {
    atomicAdd(&control.inserted, placed);
    atomicAdd(&control.occupied, placed);
  }
  let reach = atomicLoad(&longest);
  if (reach > atomicLoad(&control.maxProbe)) { atomicMax(&control.maxProbe, reach); }
}
