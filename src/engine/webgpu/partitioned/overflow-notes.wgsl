// Noting a page's overflow. A fragment for the kernels that own pages.

/// Items of the page that overflowed, those that were left to the fallback counted too.
var<workgroup> overflowed: atomic<u32>;

fn noteOverflow(number: u32, item: Item) {
  if (number < OVERFLOW) { overflows[overflowOf(mine.number) + 1u + number] = item; } else { fallBack(item); }
}

/// One invocation, after all have noted theirs.
fn countOverflow() {
  if (mine.slots > 0u) { overflows[overflowOf(mine.number)] = countItem(min(atomicLoad(&overflowed), OVERFLOW)); }
}
