// Elements and their numbers, for choose.wgsl and mark-chosen.wgsl. A fragment.

const WORKGROUP: u32 = 256u;
const ITEMS: u32 = 4u;

/// The number of an element; and the element of a number.
fn numberOf(element: u32) -> u32 { return select(element, params.total - 1u - element, LAST); }
