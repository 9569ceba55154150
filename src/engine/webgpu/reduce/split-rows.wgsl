// split-rows: brings rows into the order of the upper params.splitBits bits of their mixed keys. A fragment after part-items.wgsl, values.wgsl and
// ../table/hash.wgsl, for tile-rows.wgsl.
//
// Shares `cursors`, how many rows each bin has so far, by addition. Bytes per row: 4 and the value read, 8 written, and 4 for a value.

/// For values.wgsl, whose floats have no sums here.
const EMPTY: u32 = 0xffffffffu;

fn binOf(item: Item) -> u32 { return item.x >> (32u - params.splitBits); }
fn takeRoom(bin: u32, count: u32) -> u32 { return startOf(bin, params.splitBits) + atomicAdd(&cursors[bin], count); }

fn itemOf(row: u32) -> Item {
  var value = 0u;
  if (WHOLE) { value = data[row] ^ select(0u, SIGN, params.form == SIGNED); } else if (VALUED) { value = orderedWord(row, 0u); }
  return Item(murmur3(keys[row]), row, value);
}
