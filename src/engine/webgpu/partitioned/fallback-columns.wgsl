// Spilled items go to columns of their own, which are a batch for the direct kernels afterwards. A fragment.

@group(0) @binding(6) var<storage, read_write> spillKeys: array<u32>;
@group(0) @binding(7) var<storage, read_write> spillValues: array<u32>;
/// Items have values.
override SPILL_VALUES: bool = false;

/// Leaves an item to the direct kernels. Items beyond the room are lost: the host sees that from the count, and runs the whole chunk directly.
fn spill(item: Item) {
  let at = atomicAdd(&control.spilled, 1u);
  if (at < params.spillRoom) { putSpilled(at, item); }
}

/// Leaves an item that has its place in the table before all that are spilled. There is room for all of them.
fn displace(item: Item) { putSpilled(params.spillRoom + atomicAdd(&control.displaced, 1u), item); }

fn putSpilled(at: u32, item: Item) {
  spillKeys[at] = itemKey(item);
  if (SPILL_VALUES) { spillValues[at] = itemValue(item); }
}
