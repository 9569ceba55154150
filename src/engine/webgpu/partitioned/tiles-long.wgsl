// How tiles are cut: items that an invocation takes, loads in flight at once; and rounds that scatter and sub-partition make of them.
// A fragment.
const ITEMS: u32 = 12u;
const ROUNDS: u32 = 3u;
