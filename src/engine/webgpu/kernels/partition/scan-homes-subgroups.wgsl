// scanHomes with subgroup operations. A fragment of a module that enables them.
// Subgroups draw numbers for the homes they take, so nothing is assumed of which invocations make up a subgroup, but that
// all are full.

var<workgroup> drawn: atomic<u32>;
var<workgroup> groupItems: array<i32, 256>;
var<workgroup> groupReach: array<i32, 256>;

/// Replaces the number of items by home with the slot of the first of them: each item lies at its home, or right behind
/// the item before it. `counts` must be complete; ends with a barrier.
fn scanHomes(local: u32, lanes: Lanes) {
  var number = 0u;
  if (subgroupElect()) { number = atomicAdd(&drawn, 1u); }
  number = subgroupBroadcastFirst(number);
  let first = (number * lanes.size + lanes.lane) * HOMES;
  var items = 0;
  var reach = LOWEST;
  for (var i = 0u; i < HOMES; i += 2u) {
    let both = atomicLoad(&counts[(first + i) / 2u]);
    reach = max(reach, i32(first + i) - items);
    items += i32(both & 0xffffu);
    reach = max(reach, i32(first + i + 1u) - items);
    items += i32(both >> 16u);
  }
  let until = subgroupInclusiveAdd(items);
  var before = until - items;
  reach -= before;
  for (var delta = 1u; delta < 128u; delta *= 2u) {
    let other = subgroupShuffleUp(reach, delta);
    if (lanes.lane >= delta && delta < lanes.size) { reach = max(reach, other); }
  }
  if (lanes.lane == lanes.size - 1u) {
    groupItems[number] = until;
    groupReach[number] = reach;
  }
  var start = subgroupShuffleUp(reach, 1u);
  if (lanes.lane == 0u) { start = LOWEST; }
  workgroupBarrier();
  var groupStart = LOWEST;
  var itemsBefore = 0;
  for (var group = 0u; group < number; group++) {
    groupStart = max(groupStart, groupReach[group] - itemsBefore);
    itemsBefore += groupItems[group];
  }
  start = max(groupStart, start - itemsBefore);
  before += itemsBefore;
  for (var i = 0u; i < HOMES; i += 2u) {
    let both = atomicLoad(&counts[(first + i) / 2u]);
    start = max(start, i32(first + i) - before);
    let even = u32(before + start);
    before += i32(both & 0xffffu);
    start = max(start, i32(first + i + 1u) - before);
    atomicStore(&counts[(first + i) / 2u], even | (u32(before + start) << 16u));
    before += i32(both >> 16u);
  }
  if (local == 0u) { atomicStore(&drawn, 0u); }
  workgroupBarrier();
}
