// refine's items are keys, and become pairs with their number, which says where their answer goes. A fragment.
alias Given = u32;
fn takeItem(given: Given, number: u32) -> Item { return makeItem(given, number); }
