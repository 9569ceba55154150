// sum_parts: the groups of a part's rows: how many rows each has, the first one, and (SUMMED) how many values, and
// their sum, as a state of add_values.
//
// A block owns a part, whose groups have slots of a table in its shared memory; they get numbers that no other block
// has, in any order. Where groups find no slot, or there are more than `groups` in all, it sets control.keysLeft: what
// the call has made is to no purpose then. Values of one word lie beside the rows (CARRIED), others in their column.
// Bytes per row: 8 read, and a value, where it is not carried at random; per group 8 written, and 4 × WORDS + 8 for a
// sum.
#include "group-cache.cuh"
#include "part-items.cuh"

namespace warpmap::rows {

/// What gpu/reduce/sum-parts.ts reckons with, of 48 KiB.
WARPMAP_DEVICE u32* partMemory() {
  __shared__ u32 memory[(49152 - 512) / 4];
  return memory;
}

/// Per slot: the bits of the mixed key that its part does not tell, and 1; or 0. Then what is known of the group.
template <u32 MOST> struct PartSums {
  const reduce_sum_parts_arguments& a;
  Column column;
  u32 words;
  u32* seen;
  u32* counts;
  /// The first row as ~row.
  u32* firsts;
  /// Values that are not null, where some are.
  u32* values;
  /// Word k of a slot's sum is word k × SLOTS + slot.
  u32* sums;

  WARPMAP_DEVICE explicit PartSums(const reduce_sum_parts_arguments& a) : a(a), column(a), words(wordsIn<MOST>(a.WORDS)) {
    u32* next = partMemory();
    const auto take = [&](u32 count) {
      u32* mine = next;
      next += count;
      return mine;
    };
    seen = take(a.SLOTS);
    counts = take(a.SLOTS);
    firsts = take(a.SLOTS);
    values = take(a.NULLABLE ? a.SLOTS : 0);
    sums = take(a.SUMMED ? a.SLOTS * (words + 1) : 0);
    for (u32* word = seen + threadIdx.x; word < next; word += blockDim.x) *word = 0;
  }

  /// The slot of a key's group, which gets one if it has none; NO_ROW where the table has none.
  WARPMAP_DEVICE u32 slotOf(u32 mixed, u32& claimed) const {
    const u32 wanted = ((mixed << a.params.partBits) >> a.params.partBits) + 1;
    u32 slot = mixed & (a.SLOTS - 1);
    for (u32 step = 0; step < a.SLOTS / 2; step++) {
      u32 holder = *(volatile u32*)(seen + slot);
      if (holder == 0) {
        holder = atomicCAS(seen + slot, 0u, wanted);
        if (holder == 0) {
          claimed++;
          return slot;
        }
      }
      if (holder == wanted) return slot;
      slot = (slot + 1) & (a.SLOTS - 1);
    }
    return NO_ROW;
  }

  /// The value of a row, or the word that goes along with item `at`.
  WARPMAP_DEVICE Loaded load(u32 at, u32 row) const {
    return a.CARRIED ? Loaded{row, wordsOf(a.data)[at], 0, 0xffffffffu} : column.load(row);
  }

  WARPMAP_DEVICE void add(u32 slot, const Loaded& value) const {
    atomicAdd(counts + slot, 1u);
    raise(firsts + slot, ~value.row);
    if (!a.SUMMED || column.isNull(value)) return;
    Addend<MOST> addend = {};
    if (a.CARRIED) addend.word[0] = value.low;
    else addend = addendOf<MOST>(column, value, a.params.lowest, words);
    if (a.NULLABLE) atomicAdd(values + slot, 1u);
    addWords(sums + slot, a.SLOTS, addend, words);
  }

  WARPMAP_DEVICE void write(u32 slot, u32 group) const {
    wordsOf(a.counts)[group] = counts[slot];
    wordsOf(a.firsts)[group] = firsts[slot];
    if (!a.SUMMED) return;
    u32* state = wordsOf(a.sums) + u64(group) * a.params.stride;
    state[0] = a.NULLABLE ? values[slot] : counts[slot];
#pragma unroll
    for (u32 k = 0; k <= MOST; k++) {
      if (k <= words) state[1 + k] = sums[k * a.SLOTS + slot];
    }
  }
};

template <u32 MOST> WARPMAP_DEVICE void sumParts(const reduce_sum_parts_arguments& a) {
  __shared__ u32 numbers;
  if (blockIdx.x >= a.params.count) return;
  const u32 part = a.params.first + blockIdx.x;
  const u64 begin = startOfPart(a, part, a.params.partBits), end = startOfPart(a, part + 1, a.params.partBits);
  if (begin == end) return;
  const PartSums<MOST> table(a);
  if (threadIdx.x == 0) *stopped() = 0;
  __syncthreads();
  u32 claimed = 0;
  for (u64 first = begin + threadIdx.x; first < end; first += CACHE_BATCH * blockDim.x) {
    if (*(volatile u32*)stopped() != 0) break;
    uint2 item[CACHE_BATCH];
    Loaded value[CACHE_BATCH];
#pragma unroll
    for (u32 k = 0; k < CACHE_BATCH; k++) item[k] = pairsOf(a.items)[min(first + k * blockDim.x, end - 1)];
#pragma unroll
    for (u32 k = 0; k < CACHE_BATCH; k++) value[k] = table.load(u32(min(first + k * blockDim.x, end - 1)), item[k].y);
#pragma unroll
    for (u32 k = 0; k < CACHE_BATCH; k++) {
      if (first + k * blockDim.x >= end) continue;
      const u32 slot = table.slotOf(item[k].x, claimed);
      if (slot == NO_ROW) *(volatile u32*)stopped() = 1;
      else table.add(slot, value[k]);
    }
  }
  const u32 groups = blockPrefix(claimed).total;
  if (threadIdx.x == 0) {
    RowControl& control = controlOf(a.control);
    numbers = atomicAdd(&control.keyGroups, groups);
    if (*stopped() != 0 || numbers + groups > a.params.groups) {
      storeRelaxed(&control.keysLeft, 1u);
      numbers = NO_ROW;
    }
  }
  __syncthreads();
  if (numbers == NO_ROW) return;
  u32 before = numbers;
  for (u32 first = 0; first < a.SLOTS; first += blockDim.x) {
    const u32 slot = first + threadIdx.x;
    const bool isTaken = slot < a.SLOTS && table.seen[slot] != 0;
    const Prefix prefix = blockPrefix(isTaken);
    if (isTaken) table.write(slot, before + prefix.before);
    before += prefix.total;
  }
}

WARPMAP_KERNELS_OF_WORDS(reduce_sum_parts, reduce_sum_parts_arguments, 1024, sumParts)

}  // namespace warpmap::rows
