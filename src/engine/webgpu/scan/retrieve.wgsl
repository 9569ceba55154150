// retrieve: copies every live entry out, in no particular order.
//
// A workgroup of 256 takes a tile of 2,048 neighbouring slots, ranks its entries with a counter in workgroup memory,
// and takes room for all of them with one addition to control.found (fan-in: one global atomic per 2,048 slots). A
// table of several windows has a dispatch for each; params.count is the window's slots. Nothing may write the table in
// the same dispatch. Bytes per slot: 8 read, 8 × load written (sets: 4 and 4).

const WORKGROUP: u32 = 256u;
const ITEMS: u32 = 8u;

var<workgroup> entries: atomic<u32>;
var<workgroup> base: u32;

/// True for a slot of the table with an entry. Side slots lie behind the table and hold SIDE_PRESENT.
fn isLive(index: u32, state: u32) -> bool {
  if (index >= params.slots) { return state == SIDE_PRESENT; }
  return state < TOMBSTONE;
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let first = workgroupOf(grid) * WORKGROUP * ITEMS + local;
  // all loads before the first use, so that they are under way together
  var slots: array<Slot, ITEMS>;
  for (var item = 0u; item < ITEMS; item++) { slots[item] = table[min(first + item * WORKGROUP, params.count - 1u)]; }
  var rank: array<u32, ITEMS>;
  for (var item = 0u; item < ITEMS; item++) {
    let index = first + item * WORKGROUP;
    rank[item] = EMPTY;
    if (index < params.count && isLive(params.windowFirst + index, stateIn(slots[item]))) {
      rank[item] = atomicAdd(&entries, 1u);
    }
  }
  workgroupBarrier();
  if (local == 0u) { base = atomicAdd(&control.found, atomicLoad(&entries)); }
  workgroupBarrier();
  for (var item = 0u; item < ITEMS; item++) {
    if (rank[item] == EMPTY) { continue; }
    let index = first + item * WORKGROUP;
    let slot = slots[item];
    let number = params.windowFirst + index;
    var key = keyIn(slot);
    if (number >= params.slots) { key = sideKey(number - params.slots); }
    let at = base + rank[item];
    writeKey(at, key);
    if (VALUED) { writeFound(at, foundIn(slot, key)); }
  }
}
