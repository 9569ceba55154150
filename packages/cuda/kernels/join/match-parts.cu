// Joins of sides whose rows are split by their keys: a block owns a part of both (part-table.cuh), puts the build rows
// into its table, and looks the probe rows up. Bytes per build row: 8 or 12 read; per probe row as many, and those of a
// build row that fit the first cache.
//
//   match_parts  the partner of every probe row, 4 bytes written at random
//   join_parts   the rows of an inner join, in any order: the key, and what goes along with the rows of either side.
//                Room for those of a round is taken with one addition to control.totalLow
#include "part-table.cuh"

namespace warpmap::rows {

/// What takes murmur3 back, step by step.
WARPMAP_DEVICE u32 unmixed(u32 h) {
  h = (h ^ (h >> 16)) * 0x7ed1b41du;
  h = (h ^ (h >> 13) ^ (h >> 26)) * 0xa5cb9243u;
  return h ^ (h >> 16);
}

/// `words` of a row, one or two, the first and the second of which are given.
WARPMAP_DEVICE void putWords(const Range& to, u32 out, u32 words, u32 low, u32 high) {
  if (words == 1) wordsOf(to)[out] = low;
  else if (words == 2) pairsOf(to)[out] = {low, high};
}

template <class Arguments>
WARPMAP_DEVICE void putJoined(const Arguments& a, u32 out, const PartRow& probe, const PartRow& build) {
  if (a.KEYED) {
    const u32 word = (unmixed(probe.mixed) - a.params.offset) * a.params.inverse;
    if (a.WIDE_KEYS) putWords(a.outKeys, out, 2, word ^ keyedHash(a, probe.beside), probe.beside);
    else putWords(a.outKeys, out, 1, word, 0);
  }
  putWords(a.outProbe, out, a.PROBE_WORDS, probe.along, probe.beside);
  putWords(a.outBuild, out, a.BUILD_WORDS, build.along, build.beside);
}

template <class Arguments> WARPMAP_DEVICE void joinParts(const Arguments& a, const Range* buildWords, const Range* words) {
  if (blockIdx.x >= a.params.count) return;
  RowControl& control = controlOf(a.control);
  const Part part(a, buildWords, words);
  if (!part.table.build(control, a.MOST_BUILDS)) return;
  const u32 round = PART_BATCH * blockDim.x;
  for (u64 first = part.begin; first < part.end; first += round) {
    PartRow row[PART_BATCH];
    u32 place[PART_BATCH];
    u32 count = 0;
#pragma unroll
    for (u32 i = 0; i < PART_BATCH; i++) {
      row[i] = part.probes.at(u32(min(first + i * blockDim.x + threadIdx.x, u64(part.end) - 1)));
    }
#pragma unroll
    for (u32 i = 0; i < PART_BATCH; i++) {
      place[i] = first + i * blockDim.x + threadIdx.x < part.end ? part.table.placeOf(row[i]) : NO_ROW;
      count += place[i] != NO_ROW;
    }
    __shared__ u32 base;
    const Prefix prefix = blockPrefix(count);
    if (threadIdx.x == 0) base = atomicAdd(&control.totalLow, prefix.total);
    __syncthreads();
    const u32 start = base - a.params.total;
    // where all have a partner, neighbours write neighbouring rows
    const bool isWhole = prefix.total == min(u64(round), part.end - first);
    u32 rank = prefix.before;
#pragma unroll
    for (u32 i = 0; i < PART_BATCH; i++) {
      if (place[i] == NO_ROW) continue;
      const u32 out = isWhole ? i * blockDim.x + threadIdx.x : rank;
      putJoined(a, start + out, row[i], part.table.builds.at(place[i]));
      rank++;
    }
  }
}

WARPMAP_KERNEL(join_match_parts_wide, join_match_parts_wide_arguments, 1024) {
  if (blockIdx.x >= a.params.count) return;
  const Part part(a, &a.buildWords, &a.words);
  if (!part.table.build(controlOf(a.control), a.MOST_BUILDS)) return;
  for (u32 each = part.begin + threadIdx.x; each < part.end; each += blockDim.x) {
    const PartRow row = part.probes.at(each);
    const u32 place = part.table.placeOf(row);
    wordsOf(a.partners)[row.along] = place == NO_ROW ? NO_ROW : part.table.builds.items[place].y;
  }
}

WARPMAP_KERNEL(join_join_parts_narrow, join_join_parts_narrow_arguments, 1024) { joinParts(a, nullptr, nullptr); }
WARPMAP_KERNEL(join_join_parts_wide, join_join_parts_wide_arguments, 1024) { joinParts(a, &a.buildWords, &a.words); }

}  // namespace warpmap::rows
