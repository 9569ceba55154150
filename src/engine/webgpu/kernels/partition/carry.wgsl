// What an invocation of carry-*.wgsl works on: one page, and what overflowed the page before it. The first page comes after the
// last. A fragment after overflow.wgsl.

/// Slots read at a time.
const BATCH: u32 = 8u;

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
  let first = overflowOf(select(page, pages, page == 0u) - 1u);
  let slot = page * PAGE;
  let end = min(slot + PAGE, params.slots);
  return Border(slot - params.windowFirst, end - params.windowFirst, first, itemKey(overflows[first]));
}
