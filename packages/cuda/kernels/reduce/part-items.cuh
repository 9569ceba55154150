// Rows on their way into the order of their parts: a part has the rows whose mixed keys have its number as their upper
// partBits bits. In memory they are in two arrays: mixed key and row number beside each other, and (VALUED) a word
// more.
#pragma once
#include "../rows.cuh"

namespace warpmap::rows {

struct PartItem {
  u32 mixed;
  /// A row number, or what goes along in its place.
  u32 row;
  /// A value, a second word that goes along, or a key's upper word.
  u32 word;
};

/// Where the rows of one of 2^bits parts begin: `partStarts` tells that of 2^(partBits + fineBits) finer parts.
template <class Arguments> WARPMAP_DEVICE u32 startOfPart(const Arguments& a, u32 part, u32 bits) {
  return wordsOf(a.partStarts)[part << (a.params.partBits + a.params.fineBits - bits)];
}

template <class Arguments> WARPMAP_DEVICE void putPartItem(const Arguments& a, u32 at, const PartItem& item) {
  pairsOf(a.items)[at] = {item.mixed, item.row};
  if (a.VALUED) wordsOf(a.words)[at] = item.word;
}

}  // namespace warpmap::rows
