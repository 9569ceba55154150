// XXH32 (Collet, public domain) with seed 0 of a key of one word: xxhash32 of engine/hash.ts, bit for bit. A fragment.

fn xxhash32(key: u32) -> u32 {
  var h = 0x165667b1u + 4u + key * 0xc2b2ae3du;
  h = ((h << 17u) | (h >> 15u)) * 0x27d4eb2fu;
  h = (h ^ (h >> 15u)) * 0x85ebca77u;
  h = (h ^ (h >> 13u)) * 0xc2b2ae3du;
  return h ^ (h >> 16u);
}
