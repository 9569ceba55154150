// A map's slot, for kernels that only read the table.
alias Slot = vec2u;
fn keyWord(slot: Slot) -> u32 { return slot.x; }
/// The value of the slot that holds `key`.
fn valueWord(slot: Slot, key: u32) -> u32 { return slot.y; }
