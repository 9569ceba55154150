// Values that are combined in workgroup memory. A fragment after combine.ts's code for the memory `merged`.

var<workgroup> merged: array<atomic<Value>, MERGED>;

/// The value in workgroup memory, in whose place what changes nothing is left.
fn takeMerged(at: u32) -> u32 { return bitcast<u32>(atomicExchange(&merged[at], bitcast<Value>(params.fill))); }
