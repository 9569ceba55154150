// Lists by number. A fragment of all kernels over lists.
//
// The head of list n is HEAD words from n * HEAD on: its length and, where there are values, its place. A place is the
// address of the first entry, or GROWN and the number of the record of the list's last piece. What is not GROWN has
// room for no more entries than it has. MISSING is the place of an element whose one entry is missing.

const WORKGROUP: u32 = 256u;

/// Number of this invocation over a grid of workgroups.
fn invocation(grid: Grid, local: u32) -> u32 { return workgroupOf(grid) * WORKGROUP + local; }
