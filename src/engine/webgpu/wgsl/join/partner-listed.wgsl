// Partners that are in a column. A fragment.

fn partnerAt(row: u32) -> u32 { return partners[row]; }
