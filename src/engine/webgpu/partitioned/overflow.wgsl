// What a page's end cuts off: items whose slots, or whose probes, would go on in the next page. They are noted by page for
// propagate-*.wgsl; what there is no room for is left to the fallback. A fragment after page.wgsl.

/// Items noted of a page; how many there are comes before them.
override OVERFLOW: u32 = 127u;
/// The most that is noted of any page.
const MOST_OVERFLOW: u32 = 255u;

@group(0) @binding(5) var<storage, read_write> overflows: array<Item>;

/// Where the overflow of a page is noted.
fn overflowOf(page: u32) -> u32 { return page * (OVERFLOW + 1u); }
