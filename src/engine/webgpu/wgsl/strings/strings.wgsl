// The strings of a batch, as dictionaries' kernels see them, and their hashes: hash-bytes.ts, bit for bit. A fragment
// after hash.wgsl.
//
// An element's string is a range of bytes in `bytes`. `offsets` says where it begins and the next one does; with
// RECORDS it holds the numbers of records of another dictionary, whose arena `bytes` is.

fn startOf(element: u32) -> u32 {
  let first = offsets[params.offsetShift + element];
  return select(first - params.base, (first + 1u) * 4u, RECORDS);
}

fn lengthOf(element: u32) -> u32 {
  let at = params.offsetShift + element;
  if (RECORDS) { return bytes[offsets[at]]; }
  return offsets[at + 1u] - offsets[at];
}

/// Words of a string, the last one filled up with zeros.
fn wordsFor(length: u32) -> u32 { return length / 4u + u32(length % 4u > 0u); }

/// What a word is hashed as: see ../../hash-seed.ts.
fn keyed(word: u32) -> u32 { return word * params.multiplier + params.offset; }

/// Word `i` of a string.
fn wordOf(start: u32, length: u32, i: u32) -> u32 {
  let word = bytesAt(start + i * 4u);
  let left = length - i * 4u;
  return select(word & ((1u << (left % 4u * 8u)) - 1u), word, left >= 4u);
}

fn rotate(word: u32, bits: u32) -> u32 { return (word << bits) | (word >> (32u - bits)); }

/// MurmurHash3_x86_32 (Appleby, public domain).
fn murmur3Bytes(start: u32, length: u32) -> u32 {
  var h = 0u;
  let whole = length / 4u;
  for (var i = 0u; i < whole; i++) {
    h = rotate(h ^ (rotate(keyed(bytesAt(start + i * 4u)) * 0xcc9e2d51u, 15u) * 0x1b873593u), 13u) * 5u + 0xe6546b64u;
  }
  if (length % 4u > 0u) { h = h ^ (rotate(keyed(wordOf(start, length, whole)) * 0xcc9e2d51u, 15u) * 0x1b873593u); }
  return murmur3(h ^ length);
}

/// XXH32 (Collet).
fn xxhash32Bytes(start: u32, length: u32) -> u32 {
  var h = 0x165667b1u;
  let whole = length / 4u;
  var done = 0u;
  if (whole >= 4u) {
    var lanes = vec4u(0x24234428u, 0x85ebca77u, 0u, 0x61c8864fu);
    for (; done + 4u <= whole; done += 4u) {
      for (var lane = 0u; lane < 4u; lane++) {
        lanes[lane] = rotate(lanes[lane] + keyed(bytesAt(start + (done + lane) * 4u)) * 0x85ebca77u, 13u) * 0x9e3779b1u;
      }
    }
    h = rotate(lanes[0], 1u) + rotate(lanes[1], 7u) + rotate(lanes[2], 12u) + rotate(lanes[3], 18u);
  }
  h += length;
  for (; done < whole; done++) { h = rotate(h + keyed(bytesAt(start + done * 4u)) * 0xc2b2ae3du, 17u) * 0x27d4eb2fu; }
  for (var at = whole * 4u; at < length; at++) {
    h = rotate(h + keyed(bytesAt(start + at) & 0xffu) * 0x165667b1u, 11u) * 0x9e3779b1u;
  }
  h = (h ^ (h >> 15u)) * 0x85ebca77u;
  h = (h ^ (h >> 13u)) * 0xc2b2ae3du;
  return h ^ (h >> 16u);
}

/// What the slot of a string holds: ENTRY and 31 bits of its hash. Its home slot is the lower bits.
fn tagOf(start: u32, length: u32) -> u32 {
  var hash = 0u;
  if (HASH == 0u) { hash = murmur3Bytes(start, length); } else { hash = xxhash32Bytes(start, length); }
  return min(ENTRY | ((hash & params.hashMask) >> 1u), MOST_TAG);
}
