// scanHomes for devices without subgroup operations.

var<workgroup> scanItems: array<i32, WORKGROUP>;
var<workgroup> scanReach: array<i32, WORKGROUP>;

/// Replaces the number of items by home with the slot of the first of them: each item lies at its home, or right behind
/// the item before it. `counts` must be complete; ends with a barrier.
fn scanHomes(local: u32, lanes: Lanes) {
  let first = local * HOMES;
  var items = 0;
  var reach = LOWEST;
  for (var i = 0u; i < HOMES; i += 2u) {
    let both = atomicLoad(&counts[(first + i) / 2u]);
    reach = max(reach, i32(first + i) - items);
    items += i32(both & 0xffffu);
    reach = max(reach, i32(first + i + 1u) - items);
    items += i32(both >> 16u);
  }
  scanItems[local] = items;
  scanReach[local] = reach;
  for (var delta = 1u; delta < WORKGROUP; delta *= 2u) {
    workgroupBarrier();
    var otherItems = 0;
    var otherReach = LOWEST;
    if (local >= delta) {
      otherItems = scanItems[local - delta];
      otherReach = scanReach[local - delta];
    }
    workgroupBarrier();
    scanReach[local] = max(otherReach, scanReach[local] - otherItems);
    scanItems[local] += otherItems;
  }
  workgroupBarrier();
  var before = 0;
  var start = LOWEST;
  if (local > 0u) {
    before = scanItems[local - 1u];
    start = scanReach[local - 1u];
  }
  for (var i = 0u; i < HOMES; i += 2u) {
    let both = atomicLoad(&counts[(first + i) / 2u]);
    start = max(start, i32(first + i) - before);
    let even = u32(before + start);
    before += i32(both & 0xffffu);
    start = max(start, i32(first + i + 1u) - before);
    atomicStore(&counts[(first + i) / 2u], even | (u32(before + start) << 16u));
    before += i32(both >> 16u);
  }
  workgroupBarrier();
}
