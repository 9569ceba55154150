// Values that are combined in workgroup memory. A fragment after combine.wgsl, for modules where Value is u32 or i32: min and max
// are those of the value type.

/// Values in workgroup memory.
override MERGED: u32 = 1u;
var<workgroup> merged: array<atomic<Value>, MERGED>;

/// Times that a value meets another one's change, or fails spuriously, before its item goes another way: more than a tile has items.
const MEETINGS: u32 = 8192u;

fn mergeF32(at: u32, value: u32) -> bool {
  for (var turn = 0u; turn < MEETINGS; turn++) {
    let old = bitcast<u32>(atomicLoad(&merged[at]));
    let sum = combineF32(old, value);
    if (sum == old) { return true; }
    if (atomicCompareExchangeWeak(&merged[at], bitcast<Value>(old), bitcast<Value>(sum)).exchanged) { return true; }
  }
  return false;
}

/// Combines a value with the one in workgroup memory. True when it was.
fn merge(at: u32, bits: u32) -> bool {
  if (VALUE_F32) { return mergeF32(at, bits); }
  let value = bitcast<Value>(bits);
  if (OP == 0u) { atomicStore(&merged[at], value); }
  if (OP == 1u) { atomicAdd(&merged[at], value); }
  if (OP == 2u) { atomicMin(&merged[at], value); }
  if (OP == 3u) { atomicMax(&merged[at], value); }
  if (OP == 4u) { atomicAnd(&merged[at], value); }
  if (OP == 5u) { atomicOr(&merged[at], value); }
  if (OP == 6u) { atomicXor(&merged[at], value); }
  return true;
}

/// The value in workgroup memory, in whose place what changes nothing is left.
fn takeMerged(at: u32) -> Value { return atomicExchange(&merged[at], bitcast<Value>(params.fill)); }

/// A value combined with one from workgroup memory.
fn withMerged(bits: u32, other: Value) -> u32 {
  let value = bitcast<Value>(bits);
  if (VALUE_F32) { return combineF32(bitcast<u32>(other), bits); }
  var result = other;
  if (OP == 1u) { result = other + value; }
  if (OP == 2u) { result = min(other, value); }
  if (OP == 3u) { result = max(other, value); }
  if (OP == 4u) { result = other & value; }
  if (OP == 5u) { result = other | value; }
  if (OP == 6u) { result = other ^ value; }
  return bitcast<u32>(result);
}
