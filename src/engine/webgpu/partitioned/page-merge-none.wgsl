// In place of page-merge.wgsl for slots wider than a word of key and a word of value: values are not combined. A
// fragment.
fn forgetMerged(local: u32) {}

fn withMerged(item: Item, at: u32) -> Item { return item; }

fn mergeInto(at: u32, item: Item) -> bool { return true; }
