// The hash functions of keys, bit for bit those of engine/hash.ts and hash-words.ts: keys of one word have the
// bijections, wider ones the full functions over their little-endian bytes, with seed 0. A table's seed keys each word
// first: word × multiplier + offset.
#pragma once
#include "platform.cuh"

namespace warpmap {

/// Places in `hashNames` of engine/hash-names.ts; OWN: the host has hashed the keys.
enum Hash : u32 { MURMUR3 = 0, XXHASH32 = 1, IDENTITY = 2, XXHASH64 = 3, OWN_HASH = 4 };

WARPMAP_DEVICE u32 rotateLeft(u32 x, u32 bits) { return (x << bits) | (x >> (32 - bits)); }
WARPMAP_DEVICE u64 rotateLeft(u64 x, u32 bits) { return (x << bits) | (x >> (64 - bits)); }

/// fmix32 of MurmurHash3 (Appleby, public domain).
WARPMAP_DEVICE u32 murmur3(u32 h) {
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return h ^ (h >> 16);
}

namespace xxh32 {
constexpr u32 P1 = 0x9e3779b1u, P2 = 0x85ebca77u, P3 = 0xc2b2ae3du, P4 = 0x27d4eb2fu, P5 = 0x165667b1u;
WARPMAP_DEVICE u32 lane(u32 sum, u32 word) { return rotateLeft(sum + word * P2, 13) * P1; }
WARPMAP_DEVICE u32 finish(u32 h) {
  h = (h ^ (h >> 15)) * P2;
  h = (h ^ (h >> 13)) * P3;
  return h ^ (h >> 16);
}
}  // namespace xxh32

namespace xxh64 {
constexpr u64 P1 = 0x9e3779b185ebca87ull, P2 = 0xc2b2ae3d27d4eb4full, P3 = 0x165667b19e3779f9ull,
              P4 = 0x85ebca77c2b2ae63ull, P5 = 0x27d4eb2f165667c5ull;
WARPMAP_DEVICE u64 round(u64 lane, u64 input) { return rotateLeft(lane + input * P2, 31) * P1; }
WARPMAP_DEVICE u32 finish(u64 h) {
  h = (h ^ (h >> 33)) * P2;
  h = (h ^ (h >> 29)) * P3;
  return u32(h ^ (h >> 32));
}
}  // namespace xxh64

/// Most words of a key.
constexpr u32 MOST_KEY_WORDS = 8;

/// MurmurHash3_x86_32 of `count` words; `word(i)` is word i. Loops are unrolled, so that words stay in registers.
template <u32 MOST, class Words> WARPMAP_DEVICE u32 murmur3Words(const Words& word, u32 count, u32 seed = 0) {
  u32 h = seed;
#pragma unroll
  for (u32 i = 0; i < MOST; i++) {
    if (i >= count) break;
    h ^= rotateLeft(word(i) * 0xcc9e2d51u, 15) * 0x1b873593u;
    h = rotateLeft(h, 13) * 5 + 0xe6546b64u;
  }
  return murmur3(h ^ (4 * count));
}

/// XXH32 (Collet) of `count` words.
template <u32 MOST, class Words> WARPMAP_DEVICE u32 xxhash32Words(const Words& word, u32 count) {
  using namespace xxh32;
  u32 h = P5;
  const u32 inLanes = count & ~3u;
  if (MOST >= 4 && inLanes > 0) {
    u32 lanes[4] = {P1 + P2, P2, 0, 0u - P1};
#pragma unroll
    for (u32 i = 0; i < MOST; i++) {
      if (i < inLanes) lanes[i % 4] = lane(lanes[i % 4], word(i));
    }
    h = rotateLeft(lanes[0], 1) + rotateLeft(lanes[1], 7) + rotateLeft(lanes[2], 12) + rotateLeft(lanes[3], 18);
  }
  h += 4 * count;
#pragma unroll
  for (u32 i = 0; i < MOST; i++) {
    if (i >= inLanes && i < count) h = rotateLeft(h + word(i) * P3, 17) * P4;
  }
  return finish(h);
}

/// The low 32 bits of XXH64 (Collet) of `count` words.
template <u32 MOST, class Words> WARPMAP_DEVICE u32 xxhash64Words(const Words& word, u32 count) {
  using namespace xxh64;
  const auto pair = [&](u32 i) { return u64(word(i)) | u64(word(i + 1)) << 32; };
  u64 h = P5;
  u32 done = 0;
  if constexpr (MOST >= 8) {
    if (count == 8) {
      const u64 lanes[4] = {round(P1 + P2, pair(0)), round(P2, pair(2)), round(0, pair(4)), round(0 - P1, pair(6))};
      h = rotateLeft(lanes[0], 1) + rotateLeft(lanes[1], 7) + rotateLeft(lanes[2], 12) + rotateLeft(lanes[3], 18);
#pragma unroll
      for (u32 i = 0; i < 4; i++) h = (h ^ round(0, lanes[i])) * P1 + P4;
      done = 8;
    }
  }
  h += 4 * count;
#pragma unroll
  for (u32 i = 0; i + 2 <= MOST; i += 2) {
    if (i >= done && i + 2 <= count) h = rotateLeft(h ^ round(0, pair(i)), 27) * P1 + P4;
  }
  if (count % 2 == 1) {
    u32 last = word(0);
#pragma unroll
    for (u32 i = 2; i < MOST; i += 2) {
      if (i + 1 == count) last = word(i);
    }
    h = rotateLeft(h ^ (last * P1), 23) * P2 + P3;
  }
  return finish(h);
}

/// Hash of a key of one word.
WARPMAP_DEVICE u32 hashWord(u32 name, u32 word) {
  if (name == MURMUR3) return murmur3(word);
  if (name == IDENTITY) return word;
  const auto words = [=](u32) { return word; };
  return name == XXHASH32 ? xxhash32Words<1>(words, 1) : xxhash64Words<1>(words, 1);
}

/// Hash of a key of `count` words, of MOST at most.
template <u32 MOST, class Words> WARPMAP_DEVICE u32 hashWords(u32 name, const Words& word, u32 count) {
  if (name == MURMUR3) return murmur3Words<MOST>(word, count);
  if (name == IDENTITY) return word(0);
  return name == XXHASH32 ? xxhash32Words<MOST>(word, count) : xxhash64Words<MOST>(word, count);
}

/// floor(hash × slots / 2^32): the home slot.
WARPMAP_DEVICE u32 homeSlot(u32 hash, u32 slots) { return u32((u64(hash) * slots) >> 32); }

}  // namespace warpmap
