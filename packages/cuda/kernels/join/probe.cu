// Probe rows find their partners in a table of build rows. Blocks of 256, a row or a pair a thread.
//
//   partners      the leader of the build rows that each probe row equals, or NO_ROW. Bytes per row at load 0.5: a
//                 record read, about 1.5 slots and a record compared, 4 written
//   probe         the leader and the size of every probe row's group, and the sum of the sizes
//   match_counts  the sizes alone, as a column to scan
//   expand        all pairs, however unevenly they fall on the probe rows: a thread owns a pair and searches its row
#include "matches.cuh"

namespace warpmap::rows {

template <class Arguments> WARPMAP_DEVICE u32 partnerOf(const Arguments& a, u32 row) {
  const Records build = {wordsOf(a.buildRecords), wordsOf(a.buildBytes)};
  const Records probe = {wordsOf(a.records), wordsOf(a.bytes)};
  return findGroup(a, build, probe, row);
}

WARPMAP_KERNEL(join_partners, join_partners_arguments, 256) {
  eachElement(a, [&](u32 row) { wordsOf(a.partners)[row] = partnerOf(a, row); });
}

WARPMAP_KERNEL(join_probe, join_probe_arguments, 256) {
  matchRows(a, [&](u32 row) { return partnerOf(a, row); });
}

WARPMAP_KERNEL(join_match_counts, join_match_counts_arguments, 256) {
  eachElement(a, [&](u32 row) { wordsOf(a.counts)[row] = pairsOf(a.matches)[row].y; });
}

WARPMAP_KERNEL(join_expand, join_expand_arguments, 256) {
  const u64 at = threadOf();
  if (at >= a.params.count) return;
  const u32 pair = a.params.first + u32(at);
  const u32 row = rowOfPiece(wordsOf(a.outStarts), a.params.total, pair);
  const u32 start = wordsOf(a.starts)[pairsOf(a.matches)[row].x];
  // what is written counts from the launch's first pair
  wordsOf(a.outBuild)[at] = wordsOf(a.members)[start + (pair - wordsOf(a.outStarts)[row])];
  wordsOf(a.outProbe)[at] = row;
}

}  // namespace warpmap::rows
