// Rows by number. A fragment of all row kernels.
//
// A row's record is `rowWords` words: its hash, its null bits (`nullWords`), the words of its fixed-width columns, and
// a start and a length in bytes for each string column. Rows are equal when all words up to the strings are equal, the
// hash included, and then all strings.

const WORKGROUP: u32 = 256u;
/// A slot without a row, and the leader or group of a row that has none.
const EMPTY: u32 = 0xffffffffu;

/// Number of this invocation over a grid of workgroups.
fn invocation(grid: Grid, local: u32) -> u32 { return workgroupOf(grid) * WORKGROUP + local; }
