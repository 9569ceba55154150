// Spilled items go to the list of unfinished elements, by their numbers. A fragment.

@group(0) @binding(7) var<storage, read_write> lists: array<u32>;

/// Leaves an item to the direct kernels. Items beyond the room are lost: the host sees that from the count, and runs the whole chunk directly.
fn spill(item: Item) {
  let at = atomicAdd(&control.unfinished, 1u);
  if (at < params.spillRoom) { lists[at] = itemValue(item); }
}
