// Rows by number, as the kernels over rows see them; and a row's record: `rowWords` words, its hash, its null bits
// (`nullWords`), the words of its fixed-width columns, and a start and a length in bytes for each string column. Rows
// are equal when all words up to the strings are equal, the hash included, and then all strings.
#pragma once
#include "block.cuh"
#include "row-arguments.h"
#include "warpmap/hash.cuh"

namespace warpmap::rows {

/// A slot without a row, and the leader, group or partner of a row that has none.
constexpr u32 NO_ROW = 0xffffffffu;

WARPMAP_DEVICE u32* wordsOf(const Range& range) { return (u32*)range.at; }
WARPMAP_DEVICE uint2* pairsOf(const Range& range) { return (uint2*)range.at; }
WARPMAP_DEVICE RowControl& controlOf(const Range& range) { return *(RowControl*)range.at; }
/// The 64-bit total, which has two names for the host.
WARPMAP_DEVICE u64* totalOf(RowControl& control) { return (u64*)&control.totalLow; }

/// This thread's number in the grid.
WARPMAP_DEVICE u64 threadOf() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }

/// Calls visit(element) for this thread's one element of a dispatch.
template <class Arguments, class Visit> WARPMAP_DEVICE void eachElement(const Arguments& a, const Visit& visit) {
  const u64 at = threadOf();
  if (at < a.params.count) visit(a.params.first + u32(at));
}

WARPMAP_DEVICE bool bitOf(const Range& bits, u32 at) { return wordsOf(bits)[at / 32] >> (at % 32) & 1; }

/// Whether an element of a chunk is in the mask of its batch.
template <class Arguments> WARPMAP_DEVICE bool isSelected(const Arguments& a, u32 element) {
  return !a.MASKED || a.mask.at[a.params.maskShift * 4 + element] != 0;
}

/// Four bytes from any byte position, little-endian.
WARPMAP_DEVICE u32 bytesAt(const u32* bytes, u32 position) {
  const u32 word = position / 4, shift = position % 4 * 8;
  return shift == 0 ? bytes[word] : __funnelshift_r(bytes[word], bytes[word + 1], shift);
}
/// The last bytes of a string, 1 to 3 of them; what follows may be no memory.
WARPMAP_DEVICE u32 lastBytesAt(const u32* bytes, u32 position, u32 length) {
  const u32 word = position / 4, at = position % 4;
  const u32 next = at + length > 4 ? bytes[word + 1] : 0;
  return __funnelshift_r(bytes[word], next, at * 8) & ((1u << (length * 8)) - 1);
}

/// The rows of a side, packed.
struct Records {
  const u32* words;
  const u32* bytes;

  WARPMAP_DEVICE const u32* of(u32 row, u32 rowWords) const { return words + u64(row) * rowWords; }
};

WARPMAP_DEVICE bool sameBytes(const u32* a, u32 startA, const u32* b, u32 startB, u32 length) {
  u32 i = 0;
  for (; i + 4 <= length; i += 4) {
    if (bytesAt(a, startA + i) != bytesAt(b, startB + i)) return false;
  }
  return i == length || lastBytesAt(a, startA + i, length - i) == lastBytesAt(b, startB + i, length - i);
}

/// Whether a row of the build side equals one of the probe side in every column.
template <class Arguments>
WARPMAP_DEVICE bool sameRow(const Arguments& a, const Records& build, u32 buildRow, const Records& probe, u32 probeRow) {
  const u32* left = build.of(buildRow, a.params.rowWords);
  const u32* right = probe.of(probeRow, a.params.rowWords);
  for (u32 i = 0; i < a.params.plainWords; i++) {
    if (left[i] != right[i]) return false;
  }
  for (u32 i = a.params.plainWords; i < a.params.rowWords; i += 2) {
    const u32 length = right[i + 1];
    if (left[i + 1] != length || !sameBytes(build.bytes, left[i], probe.bytes, right[i], length)) return false;
  }
  return true;
}

/// Whether a row has no partner because it has a null.
template <class Arguments> WARPMAP_DEVICE bool isExcluded(const Arguments& a, const u32* record) {
  if (a.params.nullsEqual == 1) return false;
  for (u32 i = 0; i < a.params.nullWords; i++) {
    if (record[1 + i] != 0) return true;
  }
  return false;
}

/// The slot where a row's probe begins.
WARPMAP_DEVICE u32 homeOf(const u32* record, u32 slots) { return __umulhi(murmur3(record[0]), slots); }

/// The leader of the group that a probe row equals, in a table that nothing writes; NO_ROW where there is none: all are
/// within their rows' reach.
template <class Arguments>
WARPMAP_DEVICE u32 findGroup(const Arguments& a, const Records& build, const Records& probe, u32 row) {
  const u32* table = wordsOf(a.table);
  const u32* record = probe.of(row, a.params.rowWords);
  if (isExcluded(a, record)) return NO_ROW;
  u32 slot = homeOf(record, a.params.slots);
  for (u32 step = 0; step < a.params.reach; step++) {
    const u32 seen = table[slot];
    if (seen == NO_ROW || sameRow(a, build, seen, probe, row)) return seen;
    slot = slot + 1 == a.params.slots ? 0 : slot + 1;
  }
  return NO_ROW;
}

/// The last of `total` rows whose piece of a result starts at or before a position: rows without a piece come before it
/// or start later.
WARPMAP_DEVICE u32 rowOfPiece(const u32* starts, u32 total, u32 position) {
  u32 low = 0, high = total;
  while (low + 1 < high) {
    const u32 middle = low + (high - low) / 2;
    if (starts[middle] <= position) low = middle;
    else high = middle;
  }
  return low;
}

/// The hash of a word of a key, keyed by the engine's seed: a bijection for every seed (engine/hash-seed.ts).
template <class Arguments> WARPMAP_DEVICE u32 keyedHash(const Arguments& a, u32 word) {
  return murmur3(word * a.params.multiplier + a.params.offset);
}

/// The place of a row's key in an array over keys that lie close together: how far it is above the least one, modulo
/// 2^32 or 2^64, so that signed and unsigned keys are the same. Rows with a null, where nulls are equal, have the place
/// behind the last key's; NO_ROW is the place of a row that has none.
template <class Arguments> WARPMAP_DEVICE u32 placeOf(const Arguments& a, u32 row) {
  if (a.params.keyNullable == 1 && !bitOf(a.keyValidity, row)) return a.params.nullsEqual == 1 ? a.params.places : NO_ROW;
  if (a.KEY_WORDS == 1) {
    const u32 place = wordsOf(a.keys)[row] - a.params.lowest;
    return place < a.params.places ? place : NO_ROW;
  }
  const u64 place = ((const u64*)a.keys.at)[row] - (u64(a.params.lowestUpper) << 32 | a.params.lowest);
  return place < a.params.places ? u32(place) : NO_ROW;
}

}  // namespace warpmap::rows
