// Items that are keys alone: of sets, and of operations that need no value. A fragment.
alias Item = u32;
fn itemKey(item: Item) -> u32 { return item; }
fn itemValue(item: Item) -> u32 { return 0u; }
fn makeItem(key: u32, value: u32) -> Item { return key; }
