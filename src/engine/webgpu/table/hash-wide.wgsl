// 32-bit hash functions of keys of several words: hashWords of engine/hash-words.ts, bit for bit. A fragment after
// hash.wgsl, for modules with KEY_WORDS.

fn rotate(word: u32, bits: u32) -> u32 { return (word << bits) | (word >> (32u - bits)); }

/// MurmurHash3_x86_32 (Appleby, public domain) of the words.
fn murmur3Words(words: array<u32, KEY_WORDS>, seed: u32) -> u32 {
  var h = seed;
  for (var i = 0u; i < KEY_WORDS; i++) {
    h = h ^ (rotate(words[i] * 0xcc9e2d51u, 15u) * 0x1b873593u);
    h = rotate(h, 13u) * 5u + 0xe6546b64u;
  }
  return murmur3(h ^ (KEY_WORDS * 4u));
}

/// XXH32 (Collet) of the words' little-endian bytes, with seed 0.
fn xxhash32Words(words: array<u32, KEY_WORDS>) -> u32 {
  var h = 0x165667b1u;
  var done = 0u;
  if (KEY_WORDS >= 4u) {
    var lanes = vec4u(0x24234428u, 0x85ebca77u, 0u, 0x61c8864fu);
    for (; done + 4u <= KEY_WORDS; done += 4u) {
      for (var lane = 0u; lane < 4u; lane++) {
        lanes[lane] = rotate(lanes[lane] + words[done + lane] * 0x85ebca77u, 13u) * 0x9e3779b1u;
      }
    }
    h = rotate(lanes[0], 1u) + rotate(lanes[1], 7u) + rotate(lanes[2], 12u) + rotate(lanes[3], 18u);
  }
  h += KEY_WORDS * 4u;
  for (; done < KEY_WORDS; done++) { h = rotate(h + words[done] * 0xc2b2ae3du, 17u) * 0x27d4eb2fu; }
  h = (h ^ (h >> 15u)) * 0x85ebca77u;
  h = (h ^ (h >> 13u)) * 0xc2b2ae3du;
  return h ^ (h >> 16u);
}
