// Homes and partitions of keys, for kernels with the parameters of partition-params.ts. A fragment.

/// First word of the result by page of a key that is still to be looked up. As f32 a NaN.
const OPEN: u32 = ABSENT + 1u;

fn homeOf(key: Key) -> u32 { return homeOfState(stateOf(key)); }

/// True for a key that lives in a side slot.
fn isSide(key: Key) -> bool { return !CLAIMED_BY_ROW && stateOf(key) >= TOMBSTONE; }

/// A key's partition: that of its home slot. Keys that live in side slots are of the last partition.
fn partitionOf(key: Key) -> u32 { return select(homeOf(key) >> params.partitionShift, params.partitions - 1u, isSide(key)); }
