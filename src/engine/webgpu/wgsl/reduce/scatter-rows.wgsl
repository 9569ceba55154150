// scatter-rows: lists keys and row numbers in the order of the upper bits of mixed keys: see listed-rows.wgsl. A
// fragment after keyed-hash.wgsl, for tile-rows.wgsl.
//
// Shares `cursors`, where each bin's next rows go, by addition. Bytes per row: 4 read, 8 written.

alias Item = vec2u;

fn binOf(item: Item) -> u32 { return keyedHash(item.x) >> (32u - BIN_BITS); }
fn takeRoom(bin: u32, count: u32) -> u32 { return atomicAdd(&cursors[bin], count); }
fn putItem(bin: u32, at: u32, item: Item) { items[at] = item; }

fn itemOf(row: u32) -> Item {
  let isNull = params.keyNullable == 1u && ((keyValidity[row / 32u] >> (row % 32u)) & 1u) == 0u;
  return Item(keys[row], row | select(0u, 0x80000000u, isNull));
}
