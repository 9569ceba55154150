// Groups of equal rows. Blocks of 256, a row a thread.
//
//   number_rows    gives equal rows one leader, leaders numbers, and every row a rank among the rows of its leader
//   number_groups  turns every row's leader into the number of its group, and leaders' sizes into the counts of groups
//   list_members   the rows, group by group
//
// The leader of a group is the row that claimed its slot: a slot holds a row number, and changes once, by a
// compare-exchange from NO_ROW. Rows are compared through records that nothing writes meanwhile, so it does not matter
// which row of a group comes first. Bytes per row at load 0.5: a record read, about 1.5 slots and as many records
// compared, 8 to 12 written.
#include "../rows.cuh"

namespace warpmap::rows {

/// Steps after which a probe asks whether another one has found no place.
constexpr u32 PROBE_PATIENCE = 32;

/// The row itself where it claims a slot; NO_ROW where it has no place within its reach: then the host begins anew with
/// another seed, and all else here is in vain.
WARPMAP_DEVICE u32 findOrClaim(const groups_number_rows_arguments& a, const Records& side, u32 row) {
  u32* table = wordsOf(a.table);
  u32* crowded = &controlOf(a.control).crowded;
  u32 slot = homeOf(side.of(row, a.params.rowWords), a.params.slots);
  for (u32 step = 0; step < a.params.reach; step++) {
    u32 seen = loadRelaxed(table + slot);
    if (seen == NO_ROW) {
      seen = compareExchange(table + slot, NO_ROW, row);
      if (seen == NO_ROW) return row;
    }
    if (sameRow(a, side, seen, side, row)) return seen;
    slot = slot + 1 == a.params.slots ? 0 : slot + 1;
    if (step == PROBE_PATIENCE && loadRelaxed(crowded) != 0) return NO_ROW;
  }
  storeRelaxed(crowded, 1u);
  return NO_ROW;
}

/// The rank of this thread's row among those of its leader, if it has one. Where all lanes have the same leader, they
/// add once.
WARPMAP_DEVICE u32 rankIn(u32* sizes, u32 leader) {
  const u32 lanes = __ballot_sync(ALL_LANES, leader != NO_ROW);
  const u32 first = __ffs(int(lanes)) - 1;
  const u32 common = __shfl_sync(ALL_LANES, leader, first % LANES);
  const bool isOne = __ballot_sync(ALL_LANES, leader == common) == lanes;
  if (!isOne) return leader == NO_ROW ? 0 : atomicAdd(sizes + leader, 1u);
  u32 before = 0;
  if (laneOf() == first) before = atomicAdd(sizes + leader, u32(__popc(lanes)));
  return __shfl_sync(ALL_LANES, before, first % LANES) + __popc(lanes & ((1u << laneOf()) - 1));
}

WARPMAP_KERNEL(groups_number_rows, groups_number_rows_arguments, 256) {
  const Records side = {wordsOf(a.records), wordsOf(a.bytes)};
  RowControl& control = controlOf(a.control);
  u32 leader = NO_ROW;
  bool isLeader = false, isOut = false;
  eachElement(a, [&](u32 row) {
    isOut = isExcluded(a, side.of(row, a.params.rowWords));
    if (!isOut) leader = findOrClaim(a, side, row);
    wordsOf(a.leaders)[row] = leader;
    isLeader = leader == row;
  });
  if (a.RANKED) {
    const u32 rank = rankIn(wordsOf(a.sizes), leader);
    if (leader != NO_ROW) wordsOf(a.ranks)[a.params.first + u32(threadOf())] = rank;
  }
  const u32 number = roomInBlock(&control.groups, isLeader);
  if (a.NUMBERED && isLeader) wordsOf(a.numbers)[leader] = number;
  addOfWarp(&control.excluded, u32(isOut));
}

WARPMAP_KERNEL(groups_number_groups, groups_number_groups_arguments, 256) {
  eachElement(a, [&](u32 row) {
    const u32 leader = wordsOf(a.groupOf)[row];
    if (leader == NO_ROW) return;
    const u32 number = wordsOf(a.numbers)[leader];
    wordsOf(a.groupOf)[row] = number;
    if (a.COUNTED && leader == row) wordsOf(a.counts)[number] = wordsOf(a.sizes)[row];
  });
}

WARPMAP_KERNEL(groups_list_members, groups_list_members_arguments, 256) {
  eachElement(a, [&](u32 row) {
    const u32 group = wordsOf(a.groupOf)[row];
    if (group != NO_ROW) wordsOf(a.members)[wordsOf(a.starts)[group] + wordsOf(a.ranks)[row]] = row;
  });
}

}  // namespace warpmap::rows
