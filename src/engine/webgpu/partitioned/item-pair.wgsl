// Items with a second word: the value, or the element's number. A fragment.
alias Item = vec2u;
fn itemKey(item: Item) -> u32 { return item.x; }
fn itemValue(item: Item) -> u32 { return item.y; }
fn makeItem(key: u32, value: u32) -> Item { return vec2u(key, value); }
