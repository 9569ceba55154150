// build: makes a table's pages from their items, without probing.
//
// A linear-probing table is its entries in the order of their homes, each at its home or right behind the one before
// it. So a page is built by counting its items by home and one scan; the work does not depend on the load. A workgroup
// owns its page: it notes in workgroup memory which item goes into which slot, four bytes a slot, so that several pages
// are worked on side by side; then it reads the items again, slot by slot, out of the cache, and writes all of the
// page. Of equal keys one is kept: a page that has equal keys is laid out again without the others, whose values may be
// combined with that of the one that is kept. What does not fit before the page's end overflows; items beyond the
// invocations' registers and keys that live in side slots are left to the fallback. Where the table had entries
// (REBUILDS) they are the first items of their pages: extract has put them there. They are kept before new items with
// their keys (with ASSIGNS after these), and always have a place in the page or its overflow: where new items leave
// them none, the page's new items are left to the fallback. Bytes per slot: its own written, those of an item × load
// read.

const CAPACITY: u32 = WORKGROUP * ITEMS;
const HOMES: u32 = PAGE / WORKGROUP;
const LOWEST: i32 = -0x1000000;
/// Layouts of one page: one, another for equal keys, and more where the page's end hid some of these.
const TURNS: u32 = 8u;
/// In place of an item's home: no item; one that does not belong into the page; one that is left out, the least of the
/// three.
const NONE: u32 = 0xffffffffu;
const STRAY: u32 = 0xfffffffeu;
const LEFT_OUT: u32 = 0xfffffffdu;
/// The bits of a home that hold its item's tag, and what twelve bits hold.
const TAG: u32 = 0x7f800000u;
const MOST: u32 = 0xfffu;

const CELLS: u32 = PAGE + OVERFLOW + 1u;

/// A cell has, from its lowest bit: the number of a home's items, after the scan the slot of its first one (12 bits);
/// one more than the number of the item that goes into the slot (12 bits), and that item's tag (8 bits). The cells
/// behind those of the page's slots are those of its overflow.
var<workgroup> cells: array<atomic<u32>, CELLS>;
var<workgroup> equal: atomic<u32>;
/// An entry has no place.
var<workgroup> crowded: atomic<u32>;
var<workgroup> again: u32;
const EQUAL: u32 = 1u;
const CROWDED: u32 = 2u;
const ABORTED: u32 = 4u;
/// Items that are in the page.
var<workgroup> placed: u32;
var<workgroup> longest: atomic<u32>;

/// Where a slot's cell lies: invocations that go over neighbouring slots each would all meet in few banks of memory.
fn cellOf(slot: u32) -> u32 { return slot ^ ((slot >> 5u) & 7u); }

fn firstSlotOf(home: u32) -> u32 { return atomicLoad(&cells[cellOf(home)]) & MOST; }

/// The number of the item that goes into a slot. Only for slots that have one.
fn numberIn(cell: u32) -> u32 { return ((cell >> 12u) & MOST) - 1u; }

/// Neighbouring homes, as a scan adds them up: how many items they have, and the most by which a home is ahead of the
/// items before it.
struct Homes {
  items: i32,
  reach: i32,
}

/// A home, or the last one of a shorter page: no item has a home behind it.
fn lastHome(home: u32) -> i32 { return i32(min(home, mine.slots - 1u)); }

/// Adds up the HOMES homes from `first` on.
fn sumHomes(first: u32) -> Homes {
  var items = 0;
  var reach = LOWEST;
  for (var i = 0u; i < HOMES; i++) {
    reach = max(reach, lastHome(first + i) - items);
    items += i32(atomicLoad(&cells[cellOf(first + i)]));
  }
  return Homes(items, reach);
}

/// Replaces their counts with the slots of their first items. `itemsBefore` and `reachBefore` are of all homes before
/// them. The most slots that an item of theirs takes from its home to its slot, within the page.
fn placeHomes(first: u32, itemsBefore: i32, reachBefore: i32) -> u32 {
  var before = itemsBefore;
  var reach = reachBefore;
  var most = 0u;
  for (var i = 0u; i < HOMES; i++) {
    let home = first + i;
    let cell = cellOf(home);
    let count = i32(atomicLoad(&cells[cell]));
    reach = max(reach, lastHome(home) - before);
    let slot = min(u32(before + reach), MOST);
    atomicStore(&cells[cell], slot);
    before += count;
    if (count > 0 && slot < mine.slots) { most = max(most, min(u32(before + reach), mine.slots) - home); }
  }
  // of the last homes: where the last item ends
  if (first + HOMES == PAGE) { placed = select(u32(before) - (max(u32(before + reach), mine.slots) - mine.slots), 0u, before == 0); }
  return most;
}

/// An item of the page; any one beyond its items, so that no load waits for a condition.
fn itemAt(at: u32) -> Item { return items[mine.first + min(at, max(mine.items, 1u) - 1u)]; }

/// The numbers of entries are below this.
var<private> old: u32;

/// An item with the values of those that were left out for it.
fn wholeItem(at: u32) -> Item { return withMerged(itemAt(at), at); }

/// Items that are to be kept before others with their keys.
fn comesFirst(at: u32) -> bool { return (at < old) != ASSIGNS; }

/// The home of an item within the page, and in bits 23 to 30 its tag: of two items with different tags the keys differ.
fn homeWithin(key: Key, at: u32) -> u32 {
  if (at >= mine.items) { return NONE; }
  return select((homeOf(key) - mine.slot) | ((mixOf(key) >> 1u) & TAG), STRAY, isSide(key));
}

fn homeIn(home: u32) -> u32 { return home & 0x7ffu; }
fn rankIn(home: u32) -> u32 { return (home >> 11u) & MOST; }

/// Counts an item at its home. From here on its rank there is in bits 11 to 22.
fn ranked(home: u32) -> u32 {
  if (home >= LEFT_OUT) { return home; }
  return home | (atomicAdd(&cells[cellOf(homeIn(home))], 1u) << 11u);
}

fn slotOf(home: u32) -> u32 { return firstSlotOf(homeIn(home)) + rankIn(home); }

/// Notes an item at its slot. True when it has none in the page.
fn place(home: u32, at: u32) -> bool {
  if (home >= LEFT_OUT) { return home != NONE; }
  let slot = slotOf(home);
  if (slot < mine.slots + OVERFLOW) {
    atomicAdd(&cells[cellOf(slot)], ((at + 1u) << 12u) | ((home & TAG) << 1u));
  } else if (REBUILDS && at < old) {
    atomicStore(&crowded, 1u);
  }
  return slot >= mine.slots;
}

/// Leaves an item out that has a lower one with its key at its home.
fn kept(home: u32, at: u32) -> u32 {
  if (home >= LEFT_OUT || rankIn(home) == 0u) { return home; }
  let own = slotOf(home);
  if (own >= mine.slots + OVERFLOW) { return home; }
  for (var slot = own - rankIn(home); slot < own; slot++) {
    let cell = atomicLoad(&cells[cellOf(slot)]);
    if (((cell >> 1u) & TAG) != (home & TAG)) { continue; }
    if (!sameKey(itemKey(itemAt(numberIn(cell))), itemKey(itemAt(at)))) { continue; }
    atomicStore(&equal, 1u);
    if (!mergeInto(numberIn(cell), wholeItem(at))) { return STRAY; }
    return LEFT_OUT;
  }
  return home;
}

/// What is laid out where entries had no place: these alone.
fn withoutNew(home: u32, at: u32) -> u32 {
  if (at < old) { return homeWithin(itemKey(itemAt(at)), at); }
  return select(home, STRAY, home < LEFT_OUT);
}

fn unranked(home: u32) -> u32 { return select(home & (TAG | 0x7ffu), home, home >= LEFT_OUT); }

/// Writes the page's slots from `local` on.
fn writePage(local: u32) {
  for (var i = 0u; i < HOMES; i++) {
    let slot = i * WORKGROUP + local;
    let cell = atomicLoad(&cells[cellOf(slot)]);
    let holds = cell > MOST;
    let item = wholeItem(select(0u, numberIn(cell), holds));
    if (slot >= mine.slots) { continue; }
    var written = slotFrom(item);
    if (!holds) { written = emptySlot(); }
    table[mine.at + slot] = written;
  }
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32, lanes: Lanes) {
  mine = pageOf(grid);
  if (REBUILDS) { old = min(entries[mine.number], mine.items); }
  forgetMerged(local);
  var aborted = 0u;
  if (local == 0u && isAborted()) { aborted = ABORTED; }
  let firstHome = drawHomes(local, lanes);
  var home: array<u32, ITEMS>;
  var key: array<Key, ITEMS>;
  for (var i = 0u; i < ITEMS; i++) { key[i] = itemKey(itemAt(i * WORKGROUP + local)); }
  for (var i = 0u; i < ITEMS; i++) { home[i] = homeWithin(key[i], i * WORKGROUP + local); }
  // items of this invocation that are not in the page
  var odd = false;
  // the page still has equal keys after the last turn: all of it goes to the direct kernels
  var unresolved = false;
  for (var turn = 0u; turn < TURNS; turn++) {
    if (REBUILDS) {
      for (var i = 0u; i < ITEMS; i++) {
        if (comesFirst(i * WORKGROUP + local)) { home[i] = ranked(home[i]); }
      }
      workgroupBarrier();
      for (var i = 0u; i < ITEMS; i++) {
        if (!comesFirst(i * WORKGROUP + local)) { home[i] = ranked(home[i]); }
      }
    } else {
      for (var i = 0u; i < ITEMS; i++) { home[i] = ranked(home[i]); }
    }
    workgroupBarrier();
    scanHomes(local, lanes, firstHome);
    for (var i = 0u; i < ITEMS; i++) { odd |= place(home[i], i * WORKGROUP + local); }
    workgroupBarrier();
    for (var i = 0u; i < ITEMS; i++) { home[i] = kept(home[i], i * WORKGROUP + local); }
    workgroupBarrier();
    if (local == 0u) { again = atomicExchange(&equal, 0u) * EQUAL + atomicExchange(&crowded, 0u) * CROWDED + aborted; }
    let why = workgroupUniformLoad(&again);
    if (why == 0u) { break; }
    if (why >= ABORTED) { return; }
    // another layout, without the equal ones
    for (var cell = local; cell < CELLS; cell += WORKGROUP) { atomicStore(&cells[cell], 0u); }
    for (var i = 0u; i < ITEMS; i++) { home[i] = unranked(home[i]); }
    if (REBUILDS && (why >= CROWDED || turn + 2u == TURNS)) {
      for (var i = 0u; i < ITEMS; i++) { home[i] = withoutNew(home[i], i * WORKGROUP + local); }
    }
    if (local == 0u) { atomicStore(&longest, 0u); }
    odd = true;
    unresolved = turn + 1u == TURNS;
    workgroupBarrier();
  }
  writePage(local);
  if (unresolved && local == 0u) { placed = 0u; }
  for (var i = 0u; i < ITEMS && odd; i++) {
    if (home[i] == STRAY || (unresolved && home[i] < LEFT_OUT)) { fallBack(wholeItem(i * WORKGROUP + local)); }
    if (home[i] >= LEFT_OUT || unresolved) { continue; }
    let slot = slotOf(home[i]);
    if (slot < mine.slots) { continue; }
    noteOverflow(slot - mine.slots, wholeItem(i * WORKGROUP + local));
    atomicMax(&overflowed, slot - mine.slots + 1u);
  }
  for (var beyond = CAPACITY + local; beyond < mine.items; beyond += WORKGROUP) { fallBack(itemAt(beyond)); }
  workgroupBarrier();
  if (local != 0u) { return; }
  countOverflow();
  if (REBUILDS && old > 0u) {
    // they are counted again where they are placed
    atomicAdd(&control.erased, old);
    atomicAdd(&control.reused, old);
    atomicSub(&control.occupied, old);
  }
  if (placed == 0u) { return; }
  atomicAdd(&control.inserted, placed);
  atomicAdd(&control.occupied, placed);
  if (atomicLoad(&longest) > atomicLoad(&control.maxProbe)) { atomicMax(&control.maxProbe, atomicLoad(&longest)); }
}
