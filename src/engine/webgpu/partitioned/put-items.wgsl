// Where scatter puts items: next to each other, all words of a pair together. A fragment.

fn putItem(partitionIndex: u32, at: u32, item: Item) {
  if (at < LOST) { items[at] = item; }
}
