// A set's slot, for kernels that only read the table.
alias Slot = u32;
fn keyWord(slot: Slot) -> u32 { return slot; }
/// A set's value is the key itself.
fn valueWord(slot: Slot, key: u32) -> u32 { return key; }
