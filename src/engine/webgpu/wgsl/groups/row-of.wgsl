// Whose piece of a result an element of it is: rows' pieces lie one after another, and `outStarts` says where each
// begins. A fragment.

/// The last of `total` rows whose piece starts at or before a position: rows without a piece come before it or start
/// later.
fn rowOf(position: u32) -> u32 {
  var low = 0u;
  var high = params.total;
  while (low + 1u < high) {
    let middle = low + (high - low) / 2u;
    if (outStarts[middle] <= position) { low = middle; } else { high = middle; }
  }
  return low;
}
