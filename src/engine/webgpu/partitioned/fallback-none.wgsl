// In place of fallback-columns.wgsl, for items whose places are noted: of those that do not fit it is noted that they
// have none. A fragment.
fn fallBack(item: Item) {}
