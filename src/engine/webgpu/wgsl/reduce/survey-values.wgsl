// survey-values: where the bits of a column's values are: of integers from the lowest place of all, 0, of floats
// (FLOATS) from that of the lowest bit that is set. A fragment after rows.wgsl, values.wgsl and whole-float.wgsl.
//
// 256 invocations a workgroup, params.items rows each. Shares `told`, zeros at first, which only rises: the greatest
// place above a value, MOST_PLACES less the lowest one, and 1 where some are infinite or NaN. Bytes per row: a value
// read.

/// More than any place.
const MOST_PLACES: u32 = 4096u;

var<workgroup> above: atomic<u32>;
var<workgroup> below: atomic<u32>;
var<workgroup> special: atomic<u32>;

/// Bits of an integer, but for its sign.
fn bitsOfInteger(row: u32) -> u32 {
  let isNegative = params.form == SIGNED && plainWord(row, params.words - 1u) >= SIGN;
  let sign = select(0u, EMPTY, isNegative);
  var bits = 0u;
  for (var k = 0u; k < params.words; k++) {
    let word = plainWord(row, k) ^ sign;
    if (word != 0u) { bits = 32u * k + firstLeadingBit(word) + 1u; }
  }
  return bits;
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let start = workgroupOf(grid) * WORKGROUP * params.items + local;
  var upMost = 0u;
  var downMost = 0u;
  var isSpecial = false;
  for (var i = 0u; i < params.items; i++) {
    let at = start + i * WORKGROUP;
    if (at >= params.count) { break; }
    let row = params.first + at;
    if (isNull(row)) { continue; }
    if (FLOATS) {
      let value = wholeFloat(floatBits(row));
      isSpecial = isSpecial || value.marks != 0u;
      if (value.low == 0u) { continue; }
      let bits = select(firstLeadingBit(value.low), 32u + firstLeadingBit(value.high), value.high > 0u) + 1u;
      upMost = max(upMost, value.place + bits);
      downMost = max(downMost, MOST_PLACES - value.place);
    } else {
      upMost = max(upMost, bitsOfInteger(row));
    }
  }
  atomicMax(&above, upMost);
  atomicMax(&below, downMost);
  if (isSpecial) { atomicStore(&special, 1u); }
  workgroupBarrier();
  if (local != 0u) { return; }
  atomicMax(&told[0], atomicLoad(&above));
  atomicMax(&told[1], atomicLoad(&below));
  if (atomicLoad(&special) != 0u) { atomicStore(&told[2], 1u); }
}
