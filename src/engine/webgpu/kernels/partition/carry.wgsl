// What an invocation of carry-*.wgsl works on: one page, and what is left of the overflow of the page that comes params.carried
// pages before it. The first page follows the last. A fragment after overflow.wgsl.

/// Slots read at a time.
const BATCH: u32 = 16u;

struct Border {
  /// First slot of the page and the slot after its last one, within the binding.
  slot: u32,
  end: u32,
  /// Where the overflow is noted: items first + 1 to first + count.
  first: u32,
  count: u32,
}

fn borderOf(workgroup: vec3u, workgroups: vec3u, local: u32) -> Border {
  let index = (workgroup.y * workgroups.x + workgroup.x) * WORKGROUP + local;
  if (index >= params.pages) { return Border(0u, 0u, 0u, 0u); }
  let page = params.firstPage + index;
  let pages = (params.slots + PAGE - 1u) / PAGE;
  let first = overflowOf((page + pages - params.carried % pages) % pages);
  let slot = page * PAGE;
  let end = min(slot + PAGE, params.slots);
  return Border(slot - params.windowFirst, end - params.windowFirst, first, itemKey(overflows[first]));
}

/// Leaves the overflow from item `next` on to the dispatch for the page after this one; spills it after the last.
fn leaveOverflow(border: Border, next: u32) {
  if (border.count == 0u) { return; }
  var count = 0u;
  for (var number = next; number <= border.count; number++) {
    let item = overflows[border.first + number];
    if (itemKey(item) == EMPTY) { continue; }
    count++;
    if (params.carried < params.carries) { overflows[border.first + count] = item; } else { spill(item); }
  }
  overflows[border.first] = makeItem(select(0u, count, params.carried < params.carries), 0u);
}
