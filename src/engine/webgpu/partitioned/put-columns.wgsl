// Where scatter puts items: in columns, as the direct kernels read a chunk. A fragment.

fn putItem(partitionIndex: u32, at: u32, item: Item) {
  if (at >= LOST) { return; }
  itemKeys[at] = itemKey(item);
  if (VALUED) { itemValues[at] = itemValue(item); }
}
