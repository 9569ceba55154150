// What row kernels count. The order is that of `rowCounterNames` in row-kernels.ts. A fragment.

struct RowControl {
  /// Distinct rows of the build side.
  groups: atomic<u32>,
  /// Rows that a build dispatch left for another one.
  unfinished: atomic<u32>,
  /// Pairs, 64 bits.
  pairsLow: atomic<u32>,
  pairsHigh: atomic<u32>,
}
@group(0) @binding(5) var<storage, read_write> control: RowControl;
