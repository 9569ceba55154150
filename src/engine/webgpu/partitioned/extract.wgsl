// extract: copies the entries of a table's pages among the items of their home pages, ahead of a batch's, so that build
// can make all pages anew.
//
// A workgroup takes a page, counts the entries whose home it is in workgroup memory, and takes room for them with one
// addition. Entries before their homes or in other pages have overflowed their pages; when they are more than a page's
// list has room for, or when a page has no room for its items, the operation is aborted, and build changes nothing.
// Only reads the table. Bytes per slot: its own read, those of an item × load written.

const NONE: u32 = 0xffffffffu;

var<workgroup> entries: atomic<u32>;
var<workgroup> base: u32;

fn put(page: u32, at: u32, item: Item) {
  if (at < params.pageRoom) { items[page * params.pageRoom + at] = item; } else { atomicStore(&control.aborted, 1u); }
}

/// Puts an entry that has overflowed its page among the items of that.
fn putBack(page: u32, item: Item) {
  put(page, atomicAdd(&cursors[page], 1u), item);
  if (atomicAdd(&overflowed[page], 1u) >= OVERFLOW) { atomicStore(&control.aborted, 1u); }
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let index = workgroupOf(grid);
  if (index >= params.pages) { return; }
  let page = params.firstPage + index;
  let slotsHere = min(PAGE, params.slots - page * PAGE);
  let first = page * PAGE - params.windowFirst;
  var held: array<Slot, HELD>;
  for (var i = 0u; i < HELD; i++) { held[i] = slots[first + min(i * WORKGROUP + local, slotsHere - 1u)]; }
  var rank: array<u32, HELD>;
  for (var i = 0u; i < HELD; i++) {
    rank[i] = NONE;
    let state = stateIn(held[i]);
    if (i * WORKGROUP + local >= slotsHere || state >= TOMBSTONE) { continue; }
    let home = homeOfState(state);
    let isNative = home / PAGE == page && home <= page * PAGE + i * WORKGROUP + local;
    if (isNative) { rank[i] = atomicAdd(&entries, 1u); } else { putBack(home / PAGE, itemIn(held[i])); }
  }
  workgroupBarrier();
  if (local == 0u) { base = atomicAdd(&cursors[page], atomicLoad(&entries)); }
  workgroupBarrier();
  for (var i = 0u; i < HELD; i++) {
    if (rank[i] != NONE) { put(page, base + rank[i], itemIn(held[i])); }
  }
}
