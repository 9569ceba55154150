// refine's items are those of scatter, as they are. A fragment.
alias Given = Item;
fn takeItem(given: Given, number: u32) -> Item { return given; }
