// XXH64 (Collet, public domain) with seed 0 of a key's words: xxhash64 of engine/xxhash64.ts, bit for bit. 64-bit
// numbers are vec2u, low word first. A fragment after hash.wgsl, for modules with KEY_WORDS.

const XXH64_PRIME1 = vec2u(0x85ebca87u, 0x9e3779b1u);
const XXH64_PRIME2 = vec2u(0x27d4eb4fu, 0xc2b2ae3du);
const XXH64_PRIME3 = vec2u(0x9e3779f9u, 0x165667b1u);
const XXH64_PRIME4 = vec2u(0xc2b2ae63u, 0x85ebca77u);
const XXH64_PRIME5 = vec2u(0x165667c5u, 0x27d4eb2fu);

fn add64(a: vec2u, b: vec2u) -> vec2u {
  let low = a.x + b.x;
  return vec2u(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn multiply64(a: vec2u, b: vec2u) -> vec2u {
  return vec2u(a.x * b.x, multiplyHigh(a.x, b.x) + a.x * b.y + a.y * b.x);
}

/// For 1 to 31 bits.
fn rotate64(a: vec2u, bits: u32) -> vec2u { return (a << vec2u(bits)) | (a.yx >> vec2u(32u - bits)); }

fn round64(lane: vec2u, input: vec2u) -> vec2u {
  return multiply64(rotate64(add64(lane, multiply64(input, XXH64_PRIME2)), 31u), XXH64_PRIME1);
}

/// The low 32 bits of XXH64.
fn xxhash64(words: array<u32, KEY_WORDS>) -> u32 {
  var h = XXH64_PRIME5;
  var done = 0u;
  if (KEY_WORDS >= 8u) {
    var lanes = array<vec2u, 4>(vec2u(0xadc0b5d6u, 0x60ea27eeu), XXH64_PRIME2, vec2u(0u), vec2u(0x7a143579u, 0x61c8864eu));
    for (; done + 8u <= KEY_WORDS; done += 8u) {
      for (var lane = 0u; lane < 4u; lane++) {
        let at = done + 2u * lane;
        lanes[lane] = round64(lanes[lane], vec2u(words[at], words[at + 1u]));
      }
    }
    h = add64(add64(rotate64(lanes[0], 1u), rotate64(lanes[1], 7u)), add64(rotate64(lanes[2], 12u), rotate64(lanes[3], 18u)));
    for (var lane = 0u; lane < 4u; lane++) {
      h = add64(multiply64(h ^ round64(vec2u(0u), lanes[lane]), XXH64_PRIME1), XXH64_PRIME4);
    }
  }
  h = add64(h, vec2u(KEY_WORDS * 4u, 0u));
  for (; done + 2u <= KEY_WORDS; done += 2u) {
    h ^= round64(vec2u(0u), vec2u(words[done], words[done + 1u]));
    h = add64(multiply64(rotate64(h, 27u), XXH64_PRIME1), XXH64_PRIME4);
  }
  if (done < KEY_WORDS) {
    h ^= multiply64(vec2u(words[done], 0u), XXH64_PRIME1);
    h = add64(multiply64(rotate64(h, 23u), XXH64_PRIME2), XXH64_PRIME3);
  }
  h.x ^= h.y >> 1u;
  h = multiply64(h, XXH64_PRIME2);
  h ^= vec2u((h.x >> 29u) | (h.y << 3u), h.y >> 29u);
  h = multiply64(h, XXH64_PRIME3);
  return h.x ^ h.y;
}
