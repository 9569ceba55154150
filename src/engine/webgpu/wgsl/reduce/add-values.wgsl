// add-values: counts the values of each group, and adds them up if `stride` is more than 1. A fragment after
// group-cache.wgsl and addends.wgsl. A state is the count, WORDS + 1 words of a sum that 2^31 values of WORDS words
// cannot leave, and where some floats are infinite or NaN a word of marks. An addition's carry is known from the word
// that it found, so no two additions need to be one. A workgroup adds values of one word up as two halves: its 2^15
// rows at most carry nothing over, and additions that need no answer wait for none.
//
// INVOCATIONS invocations a workgroup, params.items rows each. Shares: the states, by addition alone, and marks, which
// are only set. Bytes per row: 4 and the value read, and where a group has no slot in the cache up to 4 × stride at
// random; a slot that is taken is merged once a workgroup.

struct Entry { isTaken: bool, key: RowKey, addend: Addend }

const SLOTS: u32 = CACHE + 1u;

var<workgroup> ownCounts: array<atomic<u32>, SLOTS>;
/// Word k of a slot's sum is word k × SLOTS + slot.
var<workgroup> ownSums: array<atomic<u32>, SLOTS * (WORDS + 1u)>;

fn load(element: u32) -> Entry {
  let row = rowAt(element);
  var entry: Entry;
  entry.isTaken = !isNull(row);
  entry.key = keyAt(element);
  if (params.stride > 1u) { entry.addend = addendOf(row); }
  if (FLOATS && params.stride > WORDS + 2u && entry.isTaken) { mark(entry.key, wholeFloat(row).marks); }
  return entry;
}

fn mark(key: RowKey, marks: u32) {
  if (marks == 0u) { return; }
  let at = groupFor(key) * params.stride + WORDS + 2u;
  // reading waits for nobody
  if ((atomicLoad(&states[at]) & marks) == 0u) { atomicOr(&states[at], marks); }
}

fn addToAll(group: u32, count: u32, addend: Addend, top: u32) {
  let at = group * params.stride;
  atomicAdd(&states[at], count);
  if (params.stride == 1u) { return; }
  var carry = 0u;
  for (var k = 0u; k < WORDS; k++) {
    let amount = addend[k] + carry;
    carry = u32(amount < carry);
    if (amount > 0u) { carry += u32(atomicAdd(&states[at + 1u + k], amount) > ~amount); }
  }
  if (top + carry > 0u) { atomicAdd(&states[at + 1u + WORDS], top + carry); }
}

fn addToOwn(slot: u32, addend: Addend) {
  atomicAdd(&ownCounts[slot], 1u);
  if (params.stride == 1u) { return; }
  if (WORDS == 1u) {
    atomicAdd(&ownSums[slot], addend[0] & 0xffffu);
    atomicAdd(&ownSums[SLOTS + slot], addend[0] >> 16u);
    return;
  }
  var carry = 0u;
  for (var k = 0u; k < WORDS; k++) {
    let amount = addend[k] + carry;
    carry = u32(amount < carry);
    if (amount > 0u) { carry += u32(atomicAdd(&ownSums[k * SLOTS + slot], amount) > ~amount); }
  }
  if (carry > 0u) { atomicAdd(&ownSums[WORDS * SLOTS + slot], carry); }
}

fn take(entry: Entry) {
  let slot = slotFor(entry.key);
  if (slot == NO_SLOT) {
    addToAll(groupFor(entry.key), 1u, entry.addend, 0u);
  } else {
    addToOwn(slot, entry.addend);
  }
}

fn merge(slot: u32, group: u32) {
  var sum: Addend;
  for (var k = 0u; k < WORDS; k++) { sum[k] = atomicLoad(&ownSums[k * SLOTS + slot]); }
  var top = atomicLoad(&ownSums[WORDS * SLOTS + slot]);
  if (WORDS == 1u) {
    let low = sum[0];
    sum[0] = low + (top << 16u);
    top = (top >> 16u) + u32(sum[0] < low);
  }
  addToAll(group, atomicLoad(&ownCounts[slot]), sum, top);
}

fn isFutile() -> bool { return false; }

fn ended(local: u32) {}
