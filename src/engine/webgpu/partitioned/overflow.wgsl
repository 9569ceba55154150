// What a page's end cuts off: items whose slots, or whose probes, would go on in the next page. They are noted by page
// for propagate-*.wgsl; what there is no room for is left to the fallback. A fragment after page.wgsl.

/// The most that is noted of any page.
const MOST_OVERFLOW: u32 = 255u;

/// Where the overflow of a page is noted.
fn overflowOf(page: u32) -> u32 { return page * (OVERFLOW + 1u); }
