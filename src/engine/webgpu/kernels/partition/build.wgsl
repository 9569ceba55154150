// build: makes the pages of an empty table from their items, without probing.
//
// A linear-probing table is its entries in the order of their homes, each at its home or right behind the one before it.
// So a page is built by counting its items by home and one scan; the work does not depend on the load. A workgroup owns
// its page, lays it out in workgroup memory and writes all of it. Of equal keys one is kept: a page that has equal keys is
// laid out again without the others. What does not fit before the page's end is spilled, and so are items beyond the
// CAPACITY of the workgroup's registers, and keys that live in side slots.
// An invocation's items are two vectors of four: arrays in loops would not stay in registers.
// Bytes per slot: 8 written, 8 × load read (sets: 4 and 4 × load).

override WORKGROUP: u32 = 512u;
/// Invocations have eight items, not four.
override EIGHT: bool = true;
override CAPACITY: u32 = WORKGROUP * select(4u, 8u, EIGHT);
override HOMES: u32 = PAGE / WORKGROUP;
override COUNT_WORDS: u32 = PAGE / 2u;
const LOWEST: i32 = -0x1000000;
/// Layouts of one page: one, another for equal keys, and more where the page's end hid some of these.
const TURNS: u32 = 8u;
/// In place of an item's home: no item, or one that is left out; one that does not belong into the page.
const NONE: u32 = 0xffffffffu;
const STRAY: u32 = 0xfffffffeu;

@group(0) @binding(2) var<storage, read_write> table: array<Item>;
@group(0) @binding(4) var<storage, read> items: array<Item>;

/// The page with all bits complemented: workgroup memory starts as zeros, which is then a page of EMPTY slots.
var<workgroup> page: array<Item, PAGE>;
/// Items by home, 16 bits each; after the scan, the slot of a home's first item.
var<workgroup> counts: array<atomic<u32>, COUNT_WORDS>;
var<workgroup> equal: atomic<u32>;
var<workgroup> again: u32;
var<workgroup> placed: atomic<u32>;
var<workgroup> longest: atomic<u32>;
var<private> mine: Page;

fn countAt(home: u32) -> u32 { return (atomicLoad(&counts[home / 2u]) >> (home % 2u * 16u)) & 0xffffu; }

/// An item of the page; any one beyond its items, so that no load waits for a condition.
fn itemAt(at: u32) -> Item { return items[mine.first + min(at, max(mine.items, 1u) - 1u)]; }

/// The home of an item within the page.
fn homeWithin(key: u32, at: u32) -> u32 {
  if (at >= mine.items) { return NONE; }
  return select(homeOf(key) - mine.slot, STRAY, key >= TOMBSTONE);
}

fn homesAt(at: vec4u) -> vec4u {
  let key = vec4u(itemKey(itemAt(at.x)), itemKey(itemAt(at.y)), itemKey(itemAt(at.z)), itemKey(itemAt(at.w)));
  return vec4u(homeWithin(key.x, at.x), homeWithin(key.y, at.y), homeWithin(key.z, at.z), homeWithin(key.w, at.w));
}

/// Counts an item at its home. From here on its rank there is in the upper half of its home.
fn ranked(home: u32) -> u32 {
  if (home >= STRAY) { return home; }
  let shift = home % 2u * 16u;
  return home | (((atomicAdd(&counts[home / 2u], 1u << shift) >> shift) & 0xffffu) << 16u);
}

fn slotOf(home: u32) -> u32 { return countAt(home & 0xffffu) + (home >> 16u); }

fn place(home: u32, item: Item) {
  if (home >= STRAY) { return; }
  let slot = slotOf(home);
  if (slot < mine.slots) { page[slot] = ~item; }
}

fn placeAll(home: vec4u, at: vec4u) {
  let x = itemAt(at.x);
  let y = itemAt(at.y);
  let z = itemAt(at.z);
  let w = itemAt(at.w);
  place(home.x, x);
  place(home.y, y);
  place(home.z, z);
  place(home.w, w);
}

/// Leaves an item out that has a lower one with its key at its home.
fn kept(home: u32) -> u32 {
  if (home >= STRAY || home <= 0xffffu) { return home; }
  let own = slotOf(home);
  if (own >= mine.slots) { return home; }
  let key = itemKey(page[own]);
  for (var slot = own - (home >> 16u); slot < own; slot++) {
    if (itemKey(page[slot]) == key) {
      atomicStore(&equal, 1u);
      return NONE;
    }
  }
  return home;
}

fn unranked(home: u32) -> u32 { return select(home & 0xffffu, home, home >= STRAY); }

/// Spills an item that is not in the page; its probe length when it is.
fn settle(home: u32, at: u32, spoiled: bool) -> u32 {
  if (home == NONE) { return 0u; }
  if (home != STRAY && !spoiled) {
    let slot = slotOf(home);
    if (slot < mine.slots) { return slot - (home & 0xffffu) + 1u; }
  }
  spill(items[mine.first + at]);
  return 0u;
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
  lanes: Lanes,
) {
  mine = pageOf(workgroup, workgroups);
  let at = local + WORKGROUP * vec4u(0u, 1u, 2u, 3u);
  let more = at + 4u * WORKGROUP;
  var a = homesAt(at);
  var b = vec4u(NONE);
  if (EIGHT) { b = homesAt(more); }
  // the page still has equal keys after the last turn: all of it goes to the direct kernels
  var spoiled = false;
  for (var turn = 0u; turn < TURNS; turn++) {
    a = vec4u(ranked(a.x), ranked(a.y), ranked(a.z), ranked(a.w));
    if (EIGHT) { b = vec4u(ranked(b.x), ranked(b.y), ranked(b.z), ranked(b.w)); }
    workgroupBarrier();
    scanHomes(local, lanes);
    placeAll(a, at);
    if (EIGHT) { placeAll(b, more); }
    workgroupBarrier();
    a = vec4u(kept(a.x), kept(a.y), kept(a.z), kept(a.w));
    if (EIGHT) { b = vec4u(kept(b.x), kept(b.y), kept(b.z), kept(b.w)); }
    workgroupBarrier();
    if (local == 0u) { again = atomicExchange(&equal, 0u); }
    if (workgroupUniformLoad(&again) == 0u) { break; }
    spoiled = turn + 1u == TURNS;
    for (var slot = local; slot < PAGE; slot += WORKGROUP) { page[slot] = makeItem(0u, 0u); }
    if (spoiled) { break; }
    for (var word = local; word < COUNT_WORDS; word += WORKGROUP) { atomicStore(&counts[word], 0u); }
    a = vec4u(unranked(a.x), unranked(a.y), unranked(a.z), unranked(a.w));
    b = vec4u(unranked(b.x), unranked(b.y), unranked(b.z), unranked(b.w));
    workgroupBarrier();
  }
  for (var slot = local; slot < mine.slots; slot += WORKGROUP) { table[mine.at + slot] = ~page[slot]; }
  let u = vec4u(settle(a.x, at.x, spoiled), settle(a.y, at.y, spoiled), settle(a.z, at.z, spoiled), settle(a.w, at.w, spoiled));
  var v = vec4u(0u);
  if (EIGHT) {
    v = vec4u(settle(b.x, more.x, spoiled), settle(b.y, more.y, spoiled), settle(b.z, more.z, spoiled), settle(b.w, more.w, spoiled));
  }
  for (var beyond = CAPACITY + local; beyond < mine.items; beyond += WORKGROUP) { spill(items[mine.first + beyond]); }
  let counted = min(u, vec4u(1u)) + min(v, vec4u(1u));
  let reaches = max(u, v);
  let count = counted.x + counted.y + counted.z + counted.w;
  if (count > 0u) {
    atomicAdd(&placed, count);
    atomicMax(&longest, max(max(reaches.x, reaches.y), max(reaches.z, reaches.w)));
  }
  workgroupBarrier();
  if (local == 0u && atomicLoad(&placed) > 0u) {
    atomicAdd(&control.inserted, atomicLoad(&placed));
    atomicAdd(&control.occupied, atomicLoad(&placed));
    if (atomicLoad(&longest) > atomicLoad(&control.maxProbe)) { atomicMax(&control.maxProbe, atomicLoad(&longest)); }
  }
}
