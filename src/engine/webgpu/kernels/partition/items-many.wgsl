// Elements or items that an invocation takes: loads in flight at once. A fragment.
const ITEMS: u32 = 8u;
