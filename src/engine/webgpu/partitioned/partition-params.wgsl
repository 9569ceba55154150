// What a partition kernel is told per dispatch. The order is that of `partitionParamNames` in partition-kernels.ts. A fragment.

struct Params {
  /// Slots of the table, side slots not counted.
  slots: u32,
  /// Elements of the chunk.
  count: u32,
  /// First element of each column within its binding, in 32-bit words.
  keyShift: u32,
  valueShift: u32,
  maskShift: u32,
  flagShift: u32,
  /// A home slot shifted right by this is its partition.
  partitionShift: u32,
  partitions: u32,
  /// Pages of a partition, a power of two.
  pagesPerPartition: u32,
  /// Items that a page of the staging memory has room for; 0 when pages are whole partitions and lie one after another.
  pageRoom: u32,
  /// Pages that this dispatch works on, and the first slot of the table binding.
  firstPage: u32,
  pages: u32,
  windowFirst: u32,
  /// Elements that the fall back columns or the list have room for.
  fallbackRoom: u32,
  /// A carry kernel's: how many pages before its own the overflow comes from, and how many there are at most.
  propagation: u32,
  propagations: u32,
  /// Bit pattern of the value for absent keys, or for fresh slots of an insertOrApply.
  fill: u32,
  /// The value that stands for an absent key between the kernels of a lookup.
  sentinel: u32,
  /// No key is this many slots or more after its home.
  maxProbe: u32,
  /// Slots behind the window's last one that are bound.
  behind: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

/// The value that stands for a key that is still to be looked up.
fn openSentinel() -> u32 { return params.sentinel + 1u; }

fn slotCount() -> u32 { return params.slots; }

fn homeOf(key: u32) -> u32 { return multiplyHigh(hashKey(key), params.slots); }

/// A key's partition: that of its home slot. Keys that live in side slots are of the last partition.
fn partitionOf(key: u32) -> u32 { return select(homeOf(key) >> params.partitionShift, params.partitions - 1u, key >= TOMBSTONE); }
