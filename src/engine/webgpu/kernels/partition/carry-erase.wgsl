// carry-erase: goes on with the walks that reached the end of a page, in the next one.
//
// After page-erase; an invocation a page, which owns the page's slots. Walks that go on behind the page are spilled.
// Bytes per page: 4 read, and 8 (sets: 4) for every slot up to the first EMPTY one, if there are such walks.

override WORKGROUP: u32 = 64u;

@group(0) @binding(2) var<storage, read_write> slots: array<Slot>;

/// Stands for a walk that has ended.
const DONE: u32 = EMPTY;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let border = borderOf(workgroup, workgroups, local);
  var left = border.count;
  var erased = 0u;
  for (var base = border.slot; base < border.end && left > 0u; base += BATCH) {
    var word: array<u32, BATCH>;
    for (var i = 0u; i < BATCH; i++) { word[i] = keyWord(slots[min(base + i, border.end - 1u)]); }
    for (var i = 0u; i < BATCH; i++) {
      if (base + i >= border.end) { break; }
      if (word[i] == EMPTY) {
        left = 0u;
        break;
      }
      for (var number = 1u; number <= border.count && word[i] != TOMBSTONE; number++) {
        if (itemKey(overflows[border.first + number]) != word[i]) { continue; }
        setKeyWord(base + i, TOMBSTONE);
        overflows[border.first + number] = makeItem(DONE, 0u);
        erased++;
        left--;
        break;
      }
    }
  }
  for (var number = 1u; number <= border.count && left > 0u; number++) {
    let item = overflows[border.first + number];
    if (itemKey(item) != DONE) { spill(item); }
  }
  if (erased > 0u) {
    atomicAdd(&control.erased, erased);
    atomicSub(&control.occupied, erased);
  }
}
