// The strings of a batch, as the kernels of dictionaries see them, their hashes (engine/hash-bytes.ts, bit for bit), and
// the slots of a dictionary.
#pragma once
#include "../rows.cuh"
#include "../string-arguments.h"

namespace warpmap::strings {

using namespace rows;

WARPMAP_DEVICE StringControl& countersOf(const Range& control) { return *(StringControl*)control.at; }

/// Calls visit(element) for this thread's one element of a chunk.
template <class Arguments, class Visit> WARPMAP_DEVICE void eachString(const Arguments& a, const Visit& visit) {
  const u64 element = threadOf();
  if (element < a.params.count) visit(u32(element));
}

/// A string: bytes from any byte position.
struct String {
  const u32* bytes;
  u32 start, length;

  /// Its words, the last one filled up with zeros.
  WARPMAP_DEVICE u32 words() const { return length / 4 + (length % 4 > 0); }
  WARPMAP_DEVICE u32 word(u32 i) const {
    const u32 left = length - i * 4;
    return left >= 4 ? bytesAt(bytes, start + i * 4) : lastBytesAt(bytes, start + i * 4, left);
  }
  WARPMAP_DEVICE bool equals(const String& other) const {
    return length == other.length && sameBytes(bytes, start, other.bytes, other.start, length);
  }
};

/// A record of an arena: its length, and its bytes.
WARPMAP_DEVICE String recordAt(const Range& arena, u32 record) {
  return {wordsOf(arena), (record + 1) * 4, wordsOf(arena)[record]};
}

/// An element of a batch: a range of `bytes`, by where it begins and the next one does; with RECORDS, by its number in
/// another dictionary, whose arena `bytes` is.
template <class Arguments> WARPMAP_DEVICE String stringAt(const Arguments& a, u32 element) {
  const u32* offsets = wordsOf(a.offsets) + a.params.offsetShift + element;
  if (a.RECORDS) return recordAt(a.bytes, *offsets);
  return {wordsOf(a.bytes), offsets[0] - a.params.base, offsets[1] - offsets[0]};
}

/// What a word is hashed as: engine/hash-seed.ts.
template <class Arguments> WARPMAP_DEVICE u32 keyed(const Arguments& a, u32 word) {
  return word * a.params.multiplier + a.params.offset;
}

/// MurmurHash3_x86_32 (Appleby, public domain).
template <class Arguments> WARPMAP_DEVICE u32 murmur3String(const Arguments& a, const String& string) {
  const auto mixed = [&](u32 i) { return rotateLeft(keyed(a, string.word(i)) * 0xcc9e2d51u, 15) * 0x1b873593u; };
  const u32 whole = string.length / 4;
  u32 h = 0;
  for (u32 i = 0; i < whole; i++) h = rotateLeft(h ^ mixed(i), 13) * 5 + 0xe6546b64u;
  if (string.words() > whole) h ^= mixed(whole);
  return murmur3(h ^ string.length);
}

/// XXH32 (Collet).
template <class Arguments> WARPMAP_DEVICE u32 xxhash32String(const Arguments& a, const String& string) {
  using namespace xxh32;
  const u32 whole = string.length / 4;
  u32 h = P5, done = 0;
  if (whole >= 4) {
    u32 lanes[4] = {P1 + P2, P2, 0, 0u - P1};
    for (; done + 4 <= whole; done += 4) {
#pragma unroll
      for (u32 i = 0; i < 4; i++) lanes[i] = lane(lanes[i], keyed(a, string.word(done + i)));
    }
    h = rotateLeft(lanes[0], 1) + rotateLeft(lanes[1], 7) + rotateLeft(lanes[2], 12) + rotateLeft(lanes[3], 18);
  }
  h += string.length;
  for (; done < whole; done++) h = rotateLeft(h + keyed(a, string.word(done)) * P3, 17) * P4;
  const u32 rest = string.words() > whole ? string.word(whole) : 0;
  for (u32 i = 0; i < string.length % 4; i++) h = rotateLeft(h + keyed(a, rest >> (i * 8) & 0xff) * P5, 11) * P1;
  return finish(h);
}

/// What the slot of a string holds: ENTRY and 31 bits of its hash. The lower ones are its home slot.
template <class Arguments> WARPMAP_DEVICE u32 tagOf(const Arguments& a, const String& string) {
  const u32 hash = a.HASH == MURMUR3 ? murmur3String(a, string) : xxhash32String(a, string);
  return min(ENTRY | (hash & a.params.hashMask) >> 1, MOST_TAG);
}

/// A slot: below its state, which is the tag of a string or, within a launch, the element that has claimed it; above
/// the number of the string.
constexpr u64 EMPTY_SLOT = ~u64(0);
WARPMAP_DEVICE u64 slotWith(u32 state, u32 number) { return u64(number) << 32 | state; }
WARPMAP_DEVICE u64* slotsOf(const Range& table) { return (u64*)table.at; }

/// What is noted of an element in `places`, from one launch to the next. Below DONE: how many slots its probe has
/// passed. DONE and more: the slot that has its string; CLAIMED and more: the slot that it has claimed. Slots are 2^29
/// at most, so the two largest numbers are none.
constexpr u32 DONE = 0x80000000u, CLAIMED = 0xc0000000u, SLOT_BITS = 0x3fffffffu;
/// The string has no number.
constexpr u32 ABSENT = 0xfffffffeu;
/// The mask leaves the element out.
constexpr u32 LEFT_OUT = 0xffffffffu;

WARPMAP_DEVICE bool isClaim(u32 place) { return place >= CLAIMED && place < ABSENT; }

}  // namespace warpmap::strings
