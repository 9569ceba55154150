// A page: PAGE neighbouring slots of the table, and the items of the chunk whose homes they are. One workgroup owns it.
// A fragment.

struct Page {
  number: u32,
  /// First slot, of the table and within the binding.
  slot: u32,
  at: u32,
  /// Slots: PAGE, or fewer in the last page.
  slots: u32,
  /// Items, the first of them at `first`.
  first: u32,
  items: u32,
}

/// True when pages are to stay as they are: scatter has lost items, or extract found pages that are too crowded. For
/// one invocation of a workgroup: that all look at one word took 0.7 of 2.7 ms.
fn isAborted() -> bool { return atomicLoad(&control.aborted) != 0u; }

fn pageOf(grid: Grid) -> Page {
  let index = workgroupOf(grid);
  let number = params.firstPage + index;
  if (index >= params.pages) { return Page(number, 0u, 0u, 0u, 0u, 0u); }
  let slot = number * PAGE;
  let slots = min(PAGE, params.slots - slot);
  if (params.pageRoom == 0u) {
    let first = ranges[number];
    return Page(number, slot, slot - params.windowFirst, slots, first, ranges[number + 1u] - first);
  }
  return Page(number, slot, slot - params.windowFirst, slots, number * params.pageRoom, min(ranges[number], params.pageRoom));
}

/// The page of this workgroup.
var<private> mine: Page;
