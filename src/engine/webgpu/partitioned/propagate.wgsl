// The border between a page and the page params.propagation pages before it, whose overflow propagate-*.wgsl bring over
// it. The first page follows the last. A fragment after overflow.wgsl.

const WORKGROUP: u32 = 64u;

struct Border {
  /// First slot of the page and the slot after its last one, within the binding.
  slot: u32,
  end: u32,
  /// Where the overflow is noted: how many items, and the items behind that.
  list: u32,
}

/// The border before a page of this dispatch.
fn borderOf(index: u32) -> Border {
  let page = params.firstPage + index;
  let pages = (params.slots + PAGE - 1u) / PAGE;
  let slot = page * PAGE;
  let end = min(slot + PAGE, params.slots);
  let list = overflowOf((page + pages - params.propagation % pages) % pages);
  return Border(slot - params.windowFirst, end - params.windowFirst, list);
}

/// How many items come over a border; none to what is no page of this dispatch, nor where pages were left as they are.
fn countAt(border: Border, index: u32) -> u32 {
  if (index >= params.pages || isAborted()) { return 0u; }
  return countIn(overflows[border.list]);
}

/// True when there is another dispatch, for the page after this one.
fn goesOn() -> bool { return params.propagation < params.propagations; }

/// Leaves an item to the next dispatch, as number `at` of those that are left.
fn leave(border: Border, at: u32, item: Item) {
  if (goesOn()) { overflows[border.list + 1u + at] = item; } else { displace(item); }
}

/// Notes how many were left.
fn countLeft(border: Border, count: u32) { overflows[border.list] = countItem(select(0u, count, goesOn())); }
