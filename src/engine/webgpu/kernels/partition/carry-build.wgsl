// carry-build: puts what overflowed a page into the first empty slots of the ones behind it, where linear probing would put it too.
//
// After build, which has left out equal keys; an invocation a page, which owns the page's empty slots, and a dispatch for each page
// that the overflow may go behind its own.
// Bytes per page: 8 read, and 8 for every slot up to the last one that is filled.

override WORKGROUP: u32 = 64u;

@group(0) @binding(2) var<storage, read_write> table: array<Item>;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let border = borderOf(workgroup, workgroups, local);
  var next = 1u;
  var placed = 0u;
  var reach = 0u;
  for (var base = border.slot; base < border.end && next <= border.count; base += BATCH) {
    var word: array<u32, BATCH>;
    for (var i = 0u; i < BATCH; i++) { word[i] = itemKey(table[min(base + i, border.end - 1u)]); }
    for (var i = 0u; i < BATCH; i++) {
      if (word[i] != EMPTY || base + i >= border.end || next > border.count) { continue; }
      let item = overflows[border.first + next];
      table[base + i] = item;
      let home = homeOf(itemKey(item));
      let slot = base + i + params.windowFirst;
      reach = max(reach, select(slot + params.slots - home, slot - home, slot >= home) + 1u);
      placed++;
      next++;
    }
  }
  leaveOverflow(border, next);
  if (placed > 0u) {
    atomicAdd(&control.inserted, placed);
    atomicAdd(&control.occupied, placed);
    if (reach > atomicLoad(&control.maxProbe)) { atomicMax(&control.maxProbe, reach); }
  }
}
