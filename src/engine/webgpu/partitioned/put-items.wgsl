// Where scatter puts items: next to each other, both words of a pair together. A fragment.
@group(0) @binding(5) var<storage, read_write> items: array<Item>;

fn putItem(partitionIndex: u32, at: u32, item: Item) {
  if (at < LOST) { items[at] = item; }
}
