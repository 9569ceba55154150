// split-rows: brings rows into the order of the upper params.splitBits bits of their mixed keys. A fragment after
// part-items.wgsl, values.wgsl and mixed-key.wgsl, for tile-rows.wgsl.
//
// Shares `cursors`, how many rows each bin has so far, by addition. Bytes per row: the key and what goes along read, 8
// written, and 4 for a value, a second word that goes along, or the key's upper word.

/// For values.wgsl, whose floats have no sums here.
const EMPTY: u32 = 0xffffffffu;

fn binOf(item: Item) -> u32 { return item.x >> (32u - params.splitBits); }
fn takeRoom(bin: u32, count: u32) -> u32 { return startOf(bin, params.splitBits) + atomicAdd(&cursors[bin], count); }

fn itemOf(row: u32) -> Item {
  var item = Item(mixedKey(row), row, 0u);
  if (CARRIED) { item.y = data[row * params.words]; }
  if (WIDE_KEYS) { item.z = keys[2u * row + 1u]; } else if (CARRIED && VALUED) {
    item.z = data[row * params.words + 1u];
  } else if (WHOLE) { item.z = data[row] ^ select(0u, SIGN, params.form == SIGNED); } else if (VALUED) {
    item.z = orderedWord(row, 0u);
  }
  return item;
}
