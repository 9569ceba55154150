// Homes and partitions of keys, for kernels with the parameters of partition-params.ts. A fragment.

/// First words of results between the kernels of a look-up by page: of an absent key, and of one that is still to be looked up. As f32 they
/// are NaNs; of values that equal them page-find makes OPEN.
const ABSENT: u32 = 0xffc593a7u;
const OPEN: u32 = 0xffc593a8u;

fn homeOf(key: Key) -> u32 { return homeOfState(stateOf(key)); }

/// True for a key that lives in a side slot.
fn isSide(key: Key) -> bool { return !CLAIMED_BY_ROW && stateOf(key) >= TOMBSTONE; }

/// A key's partition: that of its home slot. Keys that live in side slots are of the last partition.
fn partitionOf(key: Key) -> u32 { return select(homeOf(key) >> params.partitionShift, params.partitions - 1u, isSide(key)); }
