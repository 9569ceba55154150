// Comparing whole rows of the side that is in the table with rows of the side that probes it. A fragment after
// one-side.wgsl or two-sides.wgsl, and bytes-at.wgsl. Reads only.

fn buildBytesAt(position: u32) -> u32 {
  let word = position / 4u;
  let shift = position % 4u * 8u;
  if (shift == 0u) { return buildByteWord(word); }
  return (buildByteWord(word) >> shift) | (buildByteWord(word + 1u) << (32u - shift));
}

fn sameBytes(buildStart: u32, start: u32, length: u32) -> bool {
  for (var i = 0u; i + 4u <= length; i += 4u) {
    if (buildBytesAt(buildStart + i) != bytesAt(start + i)) { return false; }
  }
  let tail = length % 4u;
  if (tail == 0u) { return true; }
  let last = length - tail;
  let difference = buildBytesAt(buildStart + last) ^ bytesAt(start + last);
  return (difference & ((1u << (tail * 8u)) - 1u)) == 0u;
}

/// True when a row of the build side equals a row of this side in every column.
fn sameRow(buildRow: u32, row: u32) -> bool {
  let a = buildRow * params.rowWords;
  let b = row * params.rowWords;
  for (var i = 0u; i < params.plainWords; i++) {
    if (buildWord(a + i) != records[b + i]) { return false; }
  }
  for (var i = params.plainWords; i < params.rowWords; i += 2u) {
    let length = records[b + i + 1u];
    if (buildWord(a + i + 1u) != length) { return false; }
    if (!sameBytes(buildWord(a + i), records[b + i], length)) { return false; }
  }
  return true;
}

/// True for a row that has no partner because it has a null.
fn isExcluded(row: u32) -> bool {
  if (params.nullsEqual == 1u) { return false; }
  for (var i = 0u; i < params.nullWords; i++) {
    if (records[row * params.rowWords + 1u + i] != 0u) { return true; }
  }
  return false;
}

/// The slot where a row's probe begins.
fn homeOf(row: u32) -> u32 {
  return multiplyHigh(murmur3(records[row * params.rowWords]), params.slots);
}

fn slotAfter(slot: u32) -> u32 {
  return select(slot + 1u, 0u, slot + 1u == params.slots);
}
