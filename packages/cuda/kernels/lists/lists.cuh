// Lists by number, as engine/value-lists.ts lays them out. The head of list n is HEAD words: its length and, where there
// are values, its place. A place is the address of the first entry, or GROWN and the number of the record of the list's
// last piece. MISSING is the place of an element whose one entry is missing. What is not GROWN has room for no more
// entries than it has.
#pragma once
#include "../list-arguments.h"
#include "../rows.cuh"
#include "../warpmap/float_keys.cuh"

namespace warpmap::lists {

using namespace rows;

WARPMAP_DEVICE ListControl& countersOf(const Range& control) { return *(ListControl*)control.at; }

/// Calls visit(row) for this thread's one element of a chunk. Columns that are bound by chunk begin with element 0.
template <class Arguments, class Visit> WARPMAP_DEVICE void eachRow(const Arguments& a, const Visit& visit) {
  const u64 row = threadOf();
  if (row < a.params.count) visit(u32(row));
}

/// The number of an element's list.
template <class Arguments> WARPMAP_DEVICE u32 numberAt(const Arguments& a, u32 row) {
  return wordsOf(a.numbers)[a.params.numbersShift + row];
}

struct Head {
  u32 length, place;
};

/// The head of a list; empty where there is no list.
template <class Arguments> WARPMAP_DEVICE Head headOf(const Arguments& a, u32 number) {
  if (number == NO_LIST) return {0, 0};
  if (a.HEAD == 1) return {wordsOf(a.heads)[number], 0};
  const uint2 head = pairsOf(a.heads)[number];
  return {head.x, head.y};
}
template <class Arguments> WARPMAP_DEVICE void storeHead(const Arguments& a, u32 number, Head head) {
  if (a.HEAD == 1) wordsOf(a.heads)[number] = head.length;
  else pairsOf(a.heads)[number] = {head.length, head.place};
}

/// A piece of a longer list.
struct Piece {
  /// The address of its first entry.
  u32 address;
  /// Positions that it has room for.
  u32 first, end;
  /// The record of the piece before.
  u32 before;
};

WARPMAP_DEVICE Piece pieceOf(const Range& records, u32 record) {
  const uint4 words = ((const uint4*)records.at)[record];
  return {words.x, words.y, words.z, words.w};
}
WARPMAP_DEVICE void storePiece(const Range& records, u32 record, const Piece& piece) {
  ((uint4*)records.at)[record] = {piece.address, piece.first, piece.end, piece.before};
}

/// The address of a list's entry at a position that there is room for. Pieces grow, so a list of n entries has
/// O(log n); the first one begins with position 0.
WARPMAP_DEVICE u32 addressOf(const Range& records, u32 place, u32 position) {
  if ((place & GROWN) == 0) return place + position;
  Piece piece = pieceOf(records, place & ~GROWN);
  while (position < piece.first) piece = pieceOf(records, piece.before);
  return piece.address + position - piece.first;
}

/// A word of a key as tables store it.
template <class Arguments> WARPMAP_DEVICE u32 storedWord(const Arguments& a, u32 word) {
  return a.FLOAT_KEYS ? canonicalF32(word) : word;
}
/// What is written for an absent key.
template <class Arguments> WARPMAP_DEVICE u32 missingWord(const Arguments& a, u32 word) {
  return word == 0 ? a.params.missingLow : a.params.missingHigh;
}

WARPMAP_DEVICE void copyWords(u32* to, const u32* from, u32 words) {
  for (u32 i = 0; i < words; i++) to[i] = from[i];
}

}  // namespace warpmap::lists
