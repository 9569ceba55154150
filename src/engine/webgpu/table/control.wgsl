// What the invocations of a dispatch tell the host, and each other. A fragment.

/// Counters of one call (the host resets them) and facts of the table (kept). The order is that of control.ts.
struct Control {
  selected: atomic<u32>,
  inserted: atomic<u32>,
  sideInserted: atomic<u32>,
  reused: atomic<u32>,
  rejected: atomic<u32>,
  found: atomic<u32>,
  erased: atomic<u32>,
  sideErased: atomic<u32>,
  unfinished: atomic<u32>,
  fallbacks: atomic<u32>,
  displaced: atomic<u32>,
  aborted: atomic<u32>,
  maxProbe: atomic<u32>,
  occupied: atomic<u32>,
}

@group(0) @binding(1) var<storage, read_write> control: Control;
