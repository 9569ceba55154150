// What all kernels of dictionaries have: the number of an invocation, and the state of slots without a string. A
// fragment.

const EMPTY: u32 = 0xffffffffu;

/// Number of an invocation over a grid of workgroups.
fn invocation(grid: Grid, local: u32) -> u32 { return workgroupOf(grid) * WORKGROUP + local; }
