// Groups that several GPUs made of their own rows become groups of all rows. Their keys lie one after another on one GPU:
// groups of one list differ, and are in the order of their first rows, and so are the lists. Groups of several lists with
// one key are one group, in the place of the first of them.
//
//   group_pack    keys of several columns: a column's WORDS of each go to words AT and later of the STRIDE of a key
//   group_find    slots (zeroed): of each key the number of its first group, and 1 more; found[i]: the slot of group i
//   group_count   counts[block]: groups that are the first of their keys, of 2,048 each
//   group_place   places[i]: where group i goes, if it is the first of its key; counts are those sums before each block
//   group_merge   to[the place of its key] takes in an element of each group of a list, whose column may be another GPU's;
//                 lists come in their order
//
// group_find probes linearly, from a hash on; a slot never changes its key, only to an earlier group of the same. Blocks
// of 256. Bytes a group of a word's key and two sums: 4 + 2 × 8 read, 12 to 30 for slots, once each 8 written.
#include "block.cuh"
#include "warpmap/float_keys.cuh"

namespace warpmap {

/// Groups of a block of group_count and group_place.
constexpr u32 GROUP_TILE = 2048;

enum GroupMerge : u32 { MERGE_SUM, MERGE_FIRST, MERGE_LAST, MERGE_LEAST, MERGE_GREATEST };
enum GroupForm : u32 { GROUP_UNSIGNED, GROUP_SIGNED, GROUP_FLOAT };

WARPMAP_DEVICE bool isSameKey(const u32* keys, u32 words, u64 a, u64 b) {
  for (u32 w = 0; w < words; w++) {
    if (keys[a * words + w] != keys[b * words + w]) return false;
  }
  return true;
}

/// Bits of a number that compare as unsigned words, the upper first, as the number does.
WARPMAP_DEVICE u64 orderedBits(u64 bits, u32 width, u32 form) {
  const u64 sign = 1ull << (width - 1);
  if (form == GROUP_UNSIGNED) return bits;
  if (form == GROUP_SIGNED) return bits ^ sign;
  const u64 one = width == 32 ? canonicalF32(u32(bits)) : canonicalF64(bits);
  return one & sign ? ~one & (sign | (sign - 1)) : one | sign;
}

/// Whether a number of so many words is less than another.
WARPMAP_DEVICE bool isLess(const u32* a, const u32* b, u32 words, u32 form) {
  if (form == GROUP_FLOAT && words == 2) {
    const u64 x = a[0] | u64(a[1]) << 32, y = b[0] | u64(b[1]) << 32;
    return orderedBits(x, 64, form) < orderedBits(y, 64, form);
  }
  for (u32 w = words; w-- > 0;) {
    const u32 how = w == words - 1 ? form : u32(GROUP_UNSIGNED);
    const u64 x = orderedBits(a[w], 32, how), y = orderedBits(b[w], 32, how);
    if (x != y) return x < y;
  }
  return false;
}

template <class Arguments> WARPMAP_DEVICE u32 firstOfKey(const Arguments& a, u64 i) {
  return ((const u32*)a.slots.at)[((const u32*)a.found.at)[i]] - 1;
}

/// Calls visit(i, isFirst) for the groups of this block in their order, all threads together; i may be behind the last.
template <class Arguments, class Visit> WARPMAP_DEVICE void eachOfTile(const Arguments& a, const Visit& visit) {
  const u64 first = u64(blockIdx.x) * GROUP_TILE;
  for (u64 at = first; at < first + GROUP_TILE && at < a.COUNT; at += blockDim.x) {
    const u64 i = at + threadIdx.x;
    visit(i, i < a.COUNT && firstOfKey(a, i) == i);
  }
}

}  // namespace warpmap

using namespace warpmap;

WARPMAP_KERNEL(group_pack, group_pack_arguments, 256, 8) {
  eachElementOf(a.COUNT, [&](u64 i) {
    for (u32 w = 0; w < a.WORDS; w++) ((u32*)a.to.at)[i * a.STRIDE + a.AT + w] = ((const u32*)a.column.at)[i * a.WORDS + w];
  });
}

WARPMAP_KERNEL(group_find, group_find_arguments, 256, 8) {
  const u32* const keys = (const u32*)a.keys.at;
  u32* const slots = (u32*)a.slots.at;
  eachElementOf(a.COUNT, [&](u64 i) {
    u32 hash = a.SEED;
    for (u32 w = 0; w < a.WORDS; w++) hash = ownerStep(hash, keys[i * a.WORDS + w]);
    const u32 mine = u32(i) + 1;
    for (u32 slot = u32(u64(murmur3(hash)) * a.SLOTS >> 32);; slot = slot + 1 < a.SLOTS ? slot + 1 : 0) {
      u32 there = loadRelaxed(slots + slot);
      if (there == 0) there = compareExchange(slots + slot, 0u, mine);
      if (there != 0 && !isSameKey(keys, a.WORDS, i, there - 1)) continue;
      if (there > mine) atomicMin(slots + slot, mine);
      ((u32*)a.found.at)[i] = slot;
      return;
    }
  });
}

WARPMAP_KERNEL(group_count, group_count_arguments, 256) {
  u32 firsts = 0;
  eachOfTile(a, [&](u64, bool isFirst) { firsts += isFirst; });
  const rows::Prefix prefix = rows::blockPrefix(firsts);
  if (threadIdx.x == 0) ((u32*)a.counts.at)[blockIdx.x] = prefix.total;
}

WARPMAP_KERNEL(group_place, group_place_arguments, 256) {
  u32 before = ((const u32*)a.counts.at)[blockIdx.x];
  eachOfTile(a, [&](u64 i, bool isFirst) {
    const rows::Prefix prefix = rows::blockPrefix(isFirst);
    if (isFirst) ((u32*)a.places.at)[i] = before + prefix.before;
    before += prefix.total;
  });
}

WARPMAP_KERNEL(group_merge, group_merge_arguments, 256, 8) {
  eachElementOf(a.COUNT, [&](u64 element) {
    const u64 i = a.FIRST + element;
    const u32 first = firstOfKey(a, i);
    const u32* const from = (const u32*)a.column.at + element * a.WORDS;
    u32* const to = (u32*)a.to.at + u64(((const u32*)a.places.at)[first]) * a.WORDS;
    if (first != i) {
      if (a.HOW == MERGE_SUM) {
        *(u64*)to += *(const u64*)from;
        return;
      }
      if (a.HOW == MERGE_FIRST) return;
      if (a.HOW == MERGE_LEAST && !isLess(from, to, a.WORDS, a.FORM)) return;
      if (a.HOW == MERGE_GREATEST && !isLess(to, from, a.WORDS, a.FORM)) return;
    }
    for (u32 w = 0; w < a.WORDS; w++) to[w] = from[w];
  });
}
