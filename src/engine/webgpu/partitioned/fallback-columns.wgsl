// Items left to the fallback go to columns of their own, which are a batch for the direct kernels afterwards. A
// fragment.

/// Leaves an item to the direct kernels. Items beyond the room are lost: the host sees that from the count, and runs
/// the whole chunk directly.
fn fallBack(item: Item) {
  let at = atomicAdd(&control.fallbacks, 1u);
  if (at < params.fallbackRoom) { putFallback(at, item); }
}

/// Leaves an item that has its place in the table before all that are left to the fallback. There is room for all of
/// them.
fn displace(item: Item) { putFallback(params.fallbackRoom + atomicAdd(&control.displaced, 1u), item); }

fn putFallback(at: u32, item: Item) {
  fallbackKeys[at] = itemKey(item);
  if (FALLBACK_VALUES) { fallbackValues[at] = itemValue(item); }
}
