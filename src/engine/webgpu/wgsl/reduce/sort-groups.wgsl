// sort-groups: groups by the upper bits of their places, which are their first rows' places among the marked rows, so
// that put-groups writes to neighbouring memory. A fragment for tile-rows.wgsl, over groups in place of rows.
//
// Bins have 2^params.splitBits places each, and as many groups. Shares `cursors`, how many groups each bin has so far,
// by addition. Bytes per group: 4 read, 8 read at random, 12 written.

/// A place, the first row and the group's number.
alias Item = vec3u;

fn binOf(item: Item) -> u32 { return item.x >> params.splitBits; }
fn takeRoom(bin: u32, count: u32) -> u32 { return (bin << params.splitBits) + atomicAdd(&cursors[bin], count); }

fn putItem(bin: u32, at: u32, item: Item) {
  sorted[at] = item.xy;
  sortedGroups[at] = item.z;
}

fn itemOf(group: u32) -> Item {
  let row = ~states[group];
  let before = marks[row / 32u] & ((1u << (row % 32u)) - 1u);
  return Item(markStarts[row / 32u] + countOneBits(before), row, group);
}
