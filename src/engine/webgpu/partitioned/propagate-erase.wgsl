// propagate-erase: goes on with the probes that reached the end of a page, in the ones behind it.
//
// After page-erase; an invocation a page, which owns the page's slots, and a dispatch for each page that probes may go
// behind their own. Bytes per page: 4 read, and those of every slot up to the first EMPTY one, if there are such
// probes.

/// Slots read at a time.
const BATCH: u32 = 16u;

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let index = workgroupOf(grid) * WORKGROUP + local;
  let border = borderOf(index);
  // items whose probes go on: the first ones of the list
  var left = countAt(border, index);
  if (left == 0u) { return; }
  var erased = 0u;
  for (var base = border.slot; base < border.end && left > 0u; base += BATCH) {
    var word: array<u32, BATCH>;
    for (var i = 0u; i < BATCH; i++) { word[i] = stateIn(slots[min(base + i, border.end - 1u)]); }
    for (var i = 0u; i < BATCH; i++) {
      if (base + i >= border.end) { break; }
      if (word[i] == EMPTY) {
        left = 0u;
        break;
      }
      if (word[i] == TOMBSTONE) { continue; }
      let key = keyIn(slots[base + i]);
      for (var number = 1u; number <= left; number++) {
        if (!sameKey(itemKey(overflows[border.list + number]), key)) { continue; }
        setState(base + i, TOMBSTONE);
        overflows[border.list + number] = overflows[border.list + left];
        erased++;
        left--;
        break;
      }
    }
  }
  for (var number = 0u; number < left; number++) { leave(border, number, overflows[border.list + 1u + number]); }
  countLeft(border, left);
  if (erased > 0u) {
    atomicAdd(&control.erased, erased);
    atomicSub(&control.occupied, erased);
  }
}
