// Groups of rows that have the number of their group. A fragment.

/// What group a row is of.
struct RowKey { isNull: bool, identity: u32 }

fn rowAt(element: u32) -> u32 { return element; }
fn keyAt(element: u32) -> RowKey { return RowKey(false, groupOf[element]); }
fn groupOfIdentity(identity: u32) -> u32 { return identity; }
