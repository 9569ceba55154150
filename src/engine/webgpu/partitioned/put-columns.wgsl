// Where scatter puts items: in columns, as the direct kernels read a chunk. A fragment.
@group(0) @binding(5) var<storage, read_write> itemKeys: array<u32>;
@group(0) @binding(6) var<storage, read_write> itemValues: array<u32>;

fn putItem(partitionIndex: u32, at: u32, item: Item) {
  if (at >= LOST) { return; }
  itemKeys[at] = itemKey(item);
  if (VALUED) { itemValues[at] = itemValue(item); }
}
