// The counters of a table, which the host reads after a launch: 16 words. The host zeroes the first eight before every
// launch, and writes `tickets` before a careful one. Those of users' kernels only grow until the table is cleared; the
// host goes by how far.
#pragma once
#include "platform.cuh"

namespace warpmap {

/// What the functions of Table did, which the engine's own kernels do not call.
struct UserCounters {
  /// All new keys; `reused` and `sideInserted` as in Control are among them.
  u32 inserted;
  u32 reused;
  u32 sideInserted;
  u32 erased;
  u32 sideErased;
};

struct Control {
  /// New keys.
  u32 inserted;
  /// Elements whose key was there, or came in before in the launch.
  u32 existing;
  /// Elements that found no free slot.
  u32 rejected;
  /// Of those inserted: in the place of a tombstone.
  u32 reused;
  u32 erased;
  /// Of those inserted: in a side slot, so that no free slot was taken.
  u32 sideInserted;
  /// Of those erased: in a side slot, so that no tombstone is left.
  u32 sideErased;
  /// Entries that `retrieve` wrote; elements that the kernels of windows leave to the direct ones.
  u32 listed;
  /// Free slots that nobody has asked for yet; below 0 for moments.
  int tickets;
  /// No entry lies so many slots or more behind its home. Only grows until the table is cleared.
  u32 maxProbe;
  UserCounters byUsers;
  /// Windows whose entries were not in runs (windows-find.cu). Only grows until the table is cleared.
  u32 unordered;
};
static_assert(sizeof(Control) == 64, "src/table/table-state.ts reads 64 bytes");

}  // namespace warpmap
