// add-values: counts the values of each group, and adds them up if `stride` is 4. A fragment after group-cache.wgsl and
// values.wgsl. A state is the count, and three words of a sum that 2^31 values of 64 bits cannot leave; values are in
// order (values.wgsl), so they are not negative. An addition's carry is known from the word that it found, so no two
// additions need to be one. A workgroup adds values of one word up as two halves: its 2^15 rows at most carry nothing
// over, and additions that need no answer wait for none.
//
// INVOCATIONS invocations a workgroup, params.items rows each. Shares: the states, by addition alone. Bytes per row: 4
// and the value read, and where a group has no slot in the cache up to 16 at random; a slot that is taken is merged
// once a workgroup.

struct Entry { isTaken: bool, key: RowKey, low: u32, high: u32 }

var<workgroup> ownCounts: array<atomic<u32>, CACHE + 1u>;
var<workgroup> ownLows: array<atomic<u32>, CACHE + 1u>;
var<workgroup> ownHighs: array<atomic<u32>, CACHE + 1u>;
var<workgroup> ownTops: array<atomic<u32>, CACHE + 1u>;

fn load(element: u32) -> Entry {
  let row = rowAt(element);
  var entry = Entry(!isNull(row), keyAt(element), 0u, 0u);
  if (params.stride > 1u) {
    entry.low = orderedWord(row, 0u);
    if (params.words > 1u) { entry.high = orderedWord(row, 1u); }
  }
  return entry;
}

fn addToAll(group: u32, count: u32, low: u32, high: u32, top: u32) {
  let at = group * params.stride;
  atomicAdd(&states[at], count);
  if (params.stride == 1u) { return; }
  let before = atomicAdd(&states[at + 1u], low);
  let carried = u32(before + low < before);
  let middle = high + carried;
  var upper = top + u32(middle < carried);
  if (middle > 0u) {
    let found = atomicAdd(&states[at + 2u], middle);
    upper += u32(found + middle < found);
  }
  if (upper > 0u) { atomicAdd(&states[at + 3u], upper); }
}

fn addToOwn(slot: u32, low: u32, high: u32) {
  atomicAdd(&ownCounts[slot], 1u);
  if (params.stride == 1u) { return; }
  if (params.words < 2u) {
    atomicAdd(&ownLows[slot], low & 0xffffu);
    atomicAdd(&ownHighs[slot], low >> 16u);
    return;
  }
  let before = atomicAdd(&ownLows[slot], low);
  let carried = u32(before + low < before);
  let middle = high + carried;
  var upper = u32(middle < carried);
  if (middle > 0u) {
    let found = atomicAdd(&ownHighs[slot], middle);
    upper += u32(found + middle < found);
  }
  if (upper > 0u) { atomicAdd(&ownTops[slot], upper); }
}

fn take(entry: Entry) {
  let slot = slotFor(entry.key);
  if (slot == NO_SLOT) {
    addToAll(groupFor(entry.key), 1u, entry.low, entry.high, 0u);
  } else {
    addToOwn(slot, entry.low, entry.high);
  }
}

fn merge(slot: u32, group: u32) {
  let count = atomicLoad(&ownCounts[slot]);
  let low = atomicLoad(&ownLows[slot]);
  let high = atomicLoad(&ownHighs[slot]);
  if (params.words > 1u) {
    addToAll(group, count, low, high, atomicLoad(&ownTops[slot]));
    return;
  }
  let sum = low + (high << 16u);
  addToAll(group, count, sum, (high >> 16u) + u32(sum < low), 0u);
}

fn isFutile() -> bool { return false; }

fn ended(local: u32) {}
