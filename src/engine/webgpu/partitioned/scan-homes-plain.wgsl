// scanHomes for devices without subgroup operations.

var<workgroup> scanItems: array<i32, WORKGROUP>;
var<workgroup> scanReach: array<i32, WORKGROUP>;

/// The first of the HOMES homes that an invocation takes.
fn drawHomes(local: u32, lanes: Lanes) -> u32 { return local * HOMES; }

/// Replaces the number of items by home with the slot of the first of them: each item lies at its home, or right behind
/// the item before it. `cells` must be complete; ends with a barrier.
fn scanHomes(local: u32, lanes: Lanes, first: u32) {
  let own = sumHomes(first);
  scanItems[local] = own.items;
  scanReach[local] = own.reach;
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
  atomicMax(&longest, placeHomes(first, before, start));
  workgroupBarrier();
}
