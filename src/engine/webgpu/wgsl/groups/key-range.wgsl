// key-range: how far keys reach above and below one of them, as signed differences modulo 2^32 or 2^64, and how many
// rows are no null. A fragment after key-place.wgsl.
//
// 256 invocations a workgroup, params.items rows each, one row in params.stride. Shares: what it counts, by addition
// and as it rises. A workgroup that finds the keys too far apart already, or one of them further away than 31 bits,
// does nothing. Rows that are a sample (params.stride > 1) are not counted. Bytes per row: a key read.

var<workgroup> above: atomic<u32>;
var<workgroup> below: atomic<u32>;
var<workgroup> far: atomic<u32>;
var<workgroup> counted: atomic<u32>;
var<workgroup> isAsked: u32;

/// Where the first 32 rows are nulls, what lies under the first of them is a key as well.
fn firstRow() -> u32 {
  if (params.keyNullable == 0u || keyValidity[0] == 0u) { return 0u; }
  return firstTrailingBit(keyValidity[0]);
}

fn isSparse() -> bool {
  let reach = atomicLoad(&control.keysAbove) + atomicLoad(&control.keysBelow);
  return reach >= params.most || atomicLoad(&control.keysFar) != 0u;
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  if (local == 0u) { isAsked = u32(!isSparse()); }
  if (workgroupUniformLoad(&isAsked) == 0u) { return; }
  let number = workgroupOf(grid);
  let start = number * WORKGROUP * params.items + local;
  let reference = firstRow() * KEY_WORDS;
  var upMost = 0u;
  var downMost = 0u;
  var isFar = false;
  var rows = 0u;
  for (var i = 0u; i < params.items; i++) {
    let at = start + i * WORKGROUP;
    if (at >= params.count) { break; }
    let row = (params.first + at) * params.stride;
    if (isNullAt(row)) { continue; }
    rows++;
    let lower = keys[row * KEY_WORDS];
    let difference = lower - keys[reference];
    let isBelow = difference >= 0x80000000u;
    if (KEY_WORDS == 2u) {
      let upper = keys[row * KEY_WORDS + 1u] - keys[reference + 1u] - u32(lower < keys[reference]);
      isFar = isFar || upper != select(0u, 0xffffffffu, isBelow);
    }
    if (isBelow) { downMost = max(downMost, 0u - difference); } else { upMost = max(upMost, difference); }
  }
  atomicMax(&above, upMost);
  atomicMax(&below, downMost);
  if (isFar) { atomicStore(&far, 1u); }
  atomicAdd(&counted, rows);
  workgroupBarrier();
  if (local != 0u) { return; }
  atomicMax(&control.keysAbove, atomicLoad(&above));
  atomicMax(&control.keysBelow, atomicLoad(&below));
  if (atomicLoad(&far) != 0u) { atomicStore(&control.keysFar, 1u); }
  if (params.stride == 1u) { atomicAdd(&control.keysCounted, atomicLoad(&counted)); }
  atomicStore(&control.keyLower, keys[reference]);
  if (KEY_WORDS == 2u) { atomicStore(&control.keyUpper, keys[reference + 1u]); }
}
