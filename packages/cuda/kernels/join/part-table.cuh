// A table of the build rows of one part in a block's shared memory: of sides whose rows are split by the same bits of
// their mixed keys (gpu/reduce/row-parts.ts).
//
// Where there are too many rows for it, or the keys of a side are uneven, the block sets control.keysLeft: the call
// does without what it makes. Where build rows are equal, control.keysRepeat; then any of them is found.
#pragma once
#include "../rows.cuh"

namespace warpmap::rows {

/// Rows that a thread loads at once.
constexpr u32 PART_BATCH = 4;
constexpr u32 PART_THREADS = 1024;

/// A row of a part: its mixed key, what goes along, and the word beside both, which of keys of two words is the upper
/// one: keys are equal where mixed keys and upper words are.
struct PartRow {
  u32 mixed;
  u32 along;
  u32 beside;
};

/// The rows of a side, part after part.
struct PartRows {
  const uint2* items;
  /// Null where no words lie beside the rows.
  const u32* words;

  WARPMAP_DEVICE PartRow at(u32 i) const {
    const uint2 item = items[i];
    return {item.x, item.y, words == nullptr ? 0 : words[i]};
  }
};

/// Slots hold a build row's number in the part, and 1, in their lower NUMBER_BITS, and above them bits of its key: all
/// that its part does not tell, where that `isExact`. Or 0.
struct PartTable {
  u32* seen;
  u32 slots;
  u32 numberBits;
  bool isWide;
  bool isExact;
  PartRows builds;
  /// The part's build rows.
  u32 first;
  u32 count;

  WARPMAP_DEVICE u32 numbers() const { return (1u << numberBits) - 1; }
  WARPMAP_DEVICE u32 tagOf(const PartRow& row) const {
    if (isExact) return row.mixed << numberBits;
    return (row.mixed * 0x85ebca6bu ^ (isWide ? row.beside * 0x9e3779b1u : 0)) & ~numbers();
  }
  WARPMAP_DEVICE u32 placeIn(u32 holder) const { return first + (holder & numbers()) - 1; }
  /// Whether a slot holds a row with this one's key.
  WARPMAP_DEVICE bool holds(u32 holder, u32 tag, const PartRow& row) const {
    if ((holder ^ tag) > numbers()) return false;
    if (isExact) return true;
    const u32 place = placeIn(holder);
    return builds.items[place].x == row.mixed && (!isWide || builds.words[place] == row.beside);
  }
  WARPMAP_DEVICE u32 after(u32 slot) const { return slot + 1 == slots ? 0 : slot + 1; }

  /// Puts a build row in; false where it has no place. `repeats`: an equal one is there.
  WARPMAP_DEVICE bool put(const PartRow& row, u32 number, bool& repeats) const {
    const u32 tag = tagOf(row);
    u32 slot = row.mixed % slots;
    for (u32 step = 0; step < slots; step++) {
      const u32 holder = atomicCAS(seen + slot, 0u, tag | (number + 1));
      if (holder == 0) return true;
      if (holds(holder, tag, row)) {
        repeats = true;
        return true;
      }
      slot = after(slot);
    }
    return false;
  }
  /// Where the build row with a key is; NO_ROW where there is none.
  WARPMAP_DEVICE u32 placeOf(const PartRow& row) const {
    const u32 tag = tagOf(row);
    u32 slot = row.mixed % slots;
    for (u32 step = 0; step < slots; step++) {
      const u32 holder = seen[slot];
      if (holder == 0) break;
      if (holds(holder, tag, row)) return placeIn(holder);
      slot = after(slot);
    }
    return NO_ROW;
  }

  /// Puts all build rows in; all threads of the block call it. False where there is nothing more to do.
  WARPMAP_DEVICE bool build(RowControl& control, u32 most) const {
    if (__syncthreads_or(count > most || loadRelaxed(&control.keysUneven) != 0)) {
      if (threadIdx.x == 0) storeRelaxed(&control.keysLeft, 1u);
      return false;
    }
    for (u32 slot = threadIdx.x; slot < slots; slot += blockDim.x) seen[slot] = 0;
    __syncthreads();
    bool repeats = false;
    for (u32 each = threadIdx.x; each < count; each += PART_BATCH * blockDim.x) {
      PartRow row[PART_BATCH];
#pragma unroll
      for (u32 i = 0; i < PART_BATCH; i++) row[i] = builds.at(first + min(each + i * blockDim.x, count - 1));
#pragma unroll
      for (u32 i = 0; i < PART_BATCH; i++) {
        const u32 number = each + i * blockDim.x;
        if (number < count && !put(row[i], number, repeats)) storeRelaxed(&control.keysLeft, 1u);
      }
    }
    if (repeats) storeRelaxed(&control.keysRepeat, 1u);
    __syncthreads();
    return true;
  }
};

/// A block's part: its table, and its probe rows.
struct Part {
  PartTable table;
  PartRows probes;
  u32 begin;
  u32 end;

  template <class Arguments>
  WARPMAP_DEVICE Part(const Arguments& a, const Range* buildWords, const Range* words) {
    // SLOTS words: src/runtime/kernels.ts
    WARPMAP_DYNAMIC_SHARED(memory);
    const u32 part = a.params.first + blockIdx.x, shift = a.params.fineBits;
    const u32 lower = part << shift, upper = (part + 1) << shift;
    const auto beside = [](const Range* range) { return range == nullptr ? nullptr : wordsOf(*range); };
    table.seen = (u32*)memory;
    table.slots = a.SLOTS;
    table.numberBits = a.NUMBER_BITS;
    table.isExact = a.EXACT != 0;
    table.isWide = a.WIDE_KEYS != 0;
    table.builds = {pairsOf(a.buildItems), beside(buildWords)};
    table.first = wordsOf(a.buildStarts)[lower];
    table.count = wordsOf(a.buildStarts)[upper] - table.first;
    probes = {pairsOf(a.items), beside(words)};
    begin = wordsOf(a.partStarts)[lower];
    end = wordsOf(a.partStarts)[upper];
  }
};

}  // namespace warpmap::rows
