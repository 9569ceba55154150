// build: makes the pages of an empty table from their items, without probing.
//
// A linear-probing table is its entries in the order of their homes, each at its home or right behind the one before it.
// So a page is built by counting its items by home and one scan; the work does not depend on the load. A workgroup owns
// its page: it notes in workgroup memory which item goes into which slot, four bytes a slot, so that several pages are worked
// on side by side; then it reads the items again, slot by slot, out of the cache, and writes all of the page. Of equal keys
// one is kept: a page that has equal keys is laid out again without the others. What does not fit before the page's end
// overflows; items beyond the invocations' registers and keys that live in side slots are spilled.
// Bytes per slot: 8 written, 8 × load read (sets: 4 and 4 × load).

override WORKGROUP: u32 = 256u;
override CAPACITY: u32 = WORKGROUP * ITEMS;
override HOMES: u32 = PAGE / WORKGROUP;
const LOWEST: i32 = -0x1000000;
/// Layouts of one page: one, another for equal keys, and more where the page's end hid some of these.
const TURNS: u32 = 8u;
/// In place of an item's home: no item; one that does not belong into the page.
const NONE: u32 = 0xffffffffu;
const STRAY: u32 = 0xfffffffeu;
/// Set in the home of an item that is left out, as it is in those two.
const LEFT_OUT: u32 = 0x80000000u;

@group(0) @binding(2) var<storage, read_write> table: array<Item>;
@group(0) @binding(4) var<storage, read> items: array<Item>;

override CELLS: u32 = PAGE + OVERFLOW + 1u;

/// Lower half: the number of a home's items, after the scan the slot of its first one. Upper half: one more than the number of
/// the item that goes into the slot; the slots behind the page are those of its overflow.
var<workgroup> cells: array<atomic<u32>, CELLS>;
var<workgroup> equal: atomic<u32>;
var<workgroup> again: u32;
/// The lowest home whose items overflow, counted back from the page's end; 0 where none do.
var<workgroup> edge: atomic<u32>;
var<workgroup> placed: atomic<u32>;
var<workgroup> longest: atomic<u32>;

/// Where a slot's cell lies: invocations that go over neighbouring slots each would all meet in few banks of memory.
fn cellOf(slot: u32) -> u32 { return slot ^ ((slot >> 5u) & 7u); }

fn firstSlotOf(home: u32) -> u32 { return atomicLoad(&cells[cellOf(home)]) & 0xffffu; }

/// Neighbouring homes, as a scan adds them up: how many items they have, and the most by which a home is ahead of the items
/// before it.
struct Homes {
  items: i32,
  reach: i32,
}

/// Adds up the HOMES homes from `first` on.
fn sumHomes(first: u32) -> Homes {
  var items = 0;
  var reach = LOWEST;
  for (var i = 0u; i < HOMES; i++) {
    reach = max(reach, i32(first + i) - items);
    items += i32(atomicLoad(&cells[cellOf(first + i)]));
  }
  return Homes(items, reach);
}

/// Replaces their counts with the slots of their first items. `itemsBefore` and `reachBefore` are of all homes before them.
fn placeHomes(first: u32, itemsBefore: i32, reachBefore: i32) {
  var before = itemsBefore;
  var reach = reachBefore;
  for (var i = 0u; i < HOMES; i++) {
    let cell = cellOf(first + i);
    let count = i32(atomicLoad(&cells[cell]));
    reach = max(reach, i32(first + i) - before);
    atomicStore(&cells[cell], u32(before + reach));
    before += count;
  }
}

/// An item of the page; any one beyond its items, so that no load waits for a condition.
fn itemAt(at: u32) -> Item { return items[mine.first + min(at, max(mine.items, 1u) - 1u)]; }

/// The home of an item within the page.
fn homeWithin(key: u32, at: u32) -> u32 {
  if (at >= mine.items) { return NONE; }
  return select(homeOf(key) - mine.slot, STRAY, key >= TOMBSTONE);
}

/// Counts an item at its home. From here on its rank there is in the upper half of its home.
fn ranked(home: u32) -> u32 {
  if (home >= LEFT_OUT) { return home; }
  return home | (atomicAdd(&cells[cellOf(home)], 1u) << 16u);
}

fn slotOf(home: u32) -> u32 { return firstSlotOf(home & 0xffffu) + (home >> 16u); }

/// Notes an item at its slot. Its probe length; 0 when it is not in the page.
fn place(home: u32, at: u32) -> u32 {
  if (home >= LEFT_OUT) { return 0u; }
  let slot = slotOf(home);
  if (slot >= mine.slots + OVERFLOW) { return 0u; }
  atomicAdd(&cells[cellOf(slot)], (at + 1u) << 16u);
  return select(0u, slot - (home & 0xffffu) + 1u, slot < mine.slots);
}

/// Leaves an item out that has a lower one with its key at its home. Where that one overflows, it is spilled: whether its key
/// gets into the table is not settled here.
fn kept(home: u32, at: u32) -> u32 {
  if (home >= LEFT_OUT || home <= 0xffffu) { return home; }
  let own = slotOf(home);
  if (own >= mine.slots + OVERFLOW) { return home; }
  let key = itemKey(itemAt(at));
  for (var slot = own - (home >> 16u); slot < own; slot++) {
    if (itemKey(itemAt((atomicLoad(&cells[cellOf(slot)]) >> 16u) - 1u)) == key) {
      atomicStore(&equal, 1u);
      return select(STRAY, LEFT_OUT | (home & 0xffffu), slot < mine.slots);
    }
  }
  return home;
}

fn unranked(home: u32) -> u32 { return select(home & 0xffffu, home, home >= LEFT_OUT); }

/// Writes the page's slots from `local` on. How many entries they have.
fn writePage(local: u32) -> u32 {
  var entries = 0u;
  for (var i = 0u; i < HOMES; i++) {
    let slot = i * WORKGROUP + local;
    let number = atomicLoad(&cells[cellOf(slot)]) >> 16u;
    let item = itemAt(max(number, 1u) - 1u);
    if (slot < mine.slots) {
      table[mine.at + slot] = select(makeItem(EMPTY, EMPTY), item, number != 0u);
      entries += min(number, 1u);
    }
  }
  return entries;
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
  lanes: Lanes,
) {
  mine = pageOf(workgroup, workgroups);
  let firstHome = drawHomes(local, lanes);
  var home: array<u32, ITEMS>;
  for (var i = 0u; i < ITEMS; i++) { home[i] = itemKey(itemAt(i * WORKGROUP + local)); }
  for (var i = 0u; i < ITEMS; i++) { home[i] = homeWithin(home[i], i * WORKGROUP + local); }
  var entries = 0u;
  var reach = 0u;
  // the page still has equal keys after the last turn: all of it goes to the direct kernels
  var spoiled = false;
  for (var turn = 0u; turn < TURNS; turn++) {
    for (var i = 0u; i < ITEMS; i++) { home[i] = ranked(home[i]); }
    workgroupBarrier();
    scanHomes(local, lanes, firstHome);
    reach = 0u;
    for (var i = 0u; i < ITEMS; i++) { reach = max(reach, place(home[i], i * WORKGROUP + local)); }
    workgroupBarrier();
    for (var i = 0u; i < ITEMS; i++) { home[i] = kept(home[i], i * WORKGROUP + local); }
    entries = writePage(local);
    workgroupBarrier();
    if (local == 0u) { again = atomicExchange(&equal, 0u); }
    if (workgroupUniformLoad(&again) == 0u) { break; }
    for (var cell = local; cell < CELLS; cell += WORKGROUP) { atomicStore(&cells[cell], 0u); }
    for (var i = 0u; i < ITEMS; i++) { home[i] = unranked(home[i]); }
    spoiled = turn + 1u == TURNS;
    workgroupBarrier();
  }
  if (spoiled) {
    entries = writePage(local);
    reach = 0u;
  }
  for (var i = 0u; i < ITEMS; i++) {
    if (home[i] == STRAY || (spoiled && home[i] != NONE)) { spill(itemAt(i * WORKGROUP + local)); }
    if (home[i] >= LEFT_OUT || spoiled) { continue; }
    let slot = slotOf(home[i]);
    if (slot < mine.slots) { continue; }
    noteOverflow(slot - mine.slots, itemAt(i * WORKGROUP + local));
    atomicMax(&overflowed, slot - mine.slots + 1u);
    atomicMax(&edge, PAGE - (home[i] & 0xffffu));
  }
  for (var beyond = CAPACITY + local; beyond < mine.items; beyond += WORKGROUP) { spill(itemAt(beyond)); }
  if (entries > 0u) { atomicAdd(&placed, entries); }
  if (reach > 0u) { atomicMax(&longest, reach); }
  workgroupBarrier();
  // an item that is left out was met by one with its key; where that one may not be in the page now, it is spilled
  for (var i = 0u; i < ITEMS; i++) {
    let isOut = home[i] >= LEFT_OUT && home[i] < STRAY && !spoiled;
    if (isOut && (home[i] & 0xffffu) + atomicLoad(&edge) >= PAGE) { spill(itemAt(i * WORKGROUP + local)); }
  }
  if (local == 0u) { countOverflow(); }
  if (local == 0u && atomicLoad(&placed) > 0u) {
    atomicAdd(&control.inserted, atomicLoad(&placed));
    atomicAdd(&control.occupied, atomicLoad(&placed));
    if (atomicLoad(&longest) > atomicLoad(&control.maxProbe)) { atomicMax(&control.maxProbe, atomicLoad(&longest)); }
  }
}
