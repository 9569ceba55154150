// scanHomes with subgroup operations. A fragment of a module that enables them.
// Subgroups draw numbers for the homes they take, so nothing is assumed of which invocations make up a subgroup, but
// that all are full.

/// Subgroups at most: none is smaller than four.
const SUBGROUPS: u32 = (WORKGROUP + 3u) / 4u;

var<workgroup> drawn: atomic<u32>;
var<workgroup> groupItems: array<i32, SUBGROUPS>;
var<workgroup> groupReach: array<i32, SUBGROUPS>;

/// The first of the HOMES homes that an invocation takes: those of a subgroup are neighbours, in the order of its
/// lanes.
fn drawHomes(local: u32, lanes: Lanes) -> u32 {
  var number = 0u;
  if (subgroupElect()) { number = atomicAdd(&drawn, 1u); }
  return (subgroupBroadcastFirst(number) * lanes.size + lanes.lane) * HOMES;
}

/// Replaces the number of items by home with the slot of the first of them: each item lies at its home, or right behind
/// the item before it. `cells` must be complete; ends with a barrier.
fn scanHomes(local: u32, lanes: Lanes, first: u32) {
  let number = first / (lanes.size * HOMES);
  let own = sumHomes(first);
  let items = own.items;
  var reach = own.reach;
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
  let most = subgroupMax(placeHomes(first, before, start));
  if (subgroupElect()) { atomicMax(&longest, most); }
  workgroupBarrier();
}
