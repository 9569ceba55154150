// The second half of the variants that gather a tile's entries in workgroup memory and write them out from there, so that
// neighbouring invocations write neighbouring words: keys first and values in the same memory after them, 4 bytes per slot.

var<workgroup> stage: array<u32, TILE>;
var<workgroup> base: u32;

/// Invocation `local` has its entries at ranks from `rank` on, of `entries` in the tile. Uniform control flow only.
fn writeStaged(first: u32, local: u32, rank: u32, entries: u32, slots: ptr<function, array<vec4u, ITEMS>>) {
  if (local == 0u) { base = atomicAdd(&total, entries); }
  var at = rank;
  for (var item = 0u; item < ITEMS; item++) {
    let slot = 2u * (first + item * WORKGROUP);
    let each = (*slots)[item];
    if (isLive(slot, each.x)) { stage[at] = keyOf(slot, each.x); at++; }
    if (isLive(slot + 1u, each.z)) { stage[at] = keyOf(slot + 1u, each.z); at++; }
  }
  workgroupBarrier();
  let place = base;
  for (var i = local; i < entries; i += WORKGROUP) { outKeys[place + i] = stage[i]; }
  workgroupBarrier();
  at = rank;
  for (var item = 0u; item < ITEMS; item++) {
    let slot = 2u * (first + item * WORKGROUP);
    let each = (*slots)[item];
    if (isLive(slot, each.x)) { stage[at] = each.y; at++; }
    if (isLive(slot + 1u, each.z)) { stage[at] = each.w; at++; }
  }
  workgroupBarrier();
  for (var i = local; i < entries; i += WORKGROUP) { outValues[place + i] = stage[i]; }
}
