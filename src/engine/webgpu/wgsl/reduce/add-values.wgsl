// add-values: counts the values of each group, adds them up (SUMMED), and finds the first row of each group as the
// greatest of ~row (FIRSTS; then all values count). A fragment after group-cache.wgsl and addends.wgsl. A state is the
// count, WORDS + 1 words of a sum that 2^31 values of WORDS words cannot leave, and where some floats are infinite or
// NaN a word of marks. States and first rows are 0 at first. An addition's carry is known from the word that it found,
// so no two additions need to be one. A workgroup adds values of one word up as two halves: its 2^15 rows at most carry
// nothing over, and additions that need no answer wait for none.
//
// INVOCATIONS invocations a workgroup, params.items rows each. Shares: the states, by addition alone, marks, which are
// only set, and first rows, which only rise. Bytes per row: the key, or what tells the group, and the value read, and
// where a group has no slot in the cache up to 4 × stride at random; a slot that is taken is merged once a workgroup.

struct Entry { isTaken: bool, key: RowKey, row: u32, raw: Raw }

const SLOTS: u32 = CACHE + 1u;
/// Without a use, one word.
const FIRST_SLOTS: u32 = CACHE * u32(FIRSTS) + 1u;
const SUM_SLOTS: u32 = (SLOTS * (WORDS + 1u) - 1u) * u32(SUMMED) + 1u;

var<workgroup> ownCounts: array<atomic<u32>, SLOTS>;
/// Word k of a slot's sum is word k × SLOTS + slot.
var<workgroup> ownSums: array<atomic<u32>, SUM_SLOTS>;
var<workgroup> ownFirsts: array<atomic<u32>, FIRST_SLOTS>;

fn load(element: u32) -> Entry {
  let row = rowAt(element);
  var entry: Entry;
  entry.isTaken = FIRSTS || !isNull(row);
  entry.key = keyAt(element);
  entry.row = row;
  if (SUMMED) { entry.raw = rawOf(row); }
  return entry;
}

fn mark(key: RowKey, marks: u32) {
  if (marks == 0u) { return; }
  let at = groupFor(key) * params.stride + WORDS + 2u;
  // reading waits for nobody
  if ((atomicLoad(&states[at]) & marks) == 0u) { atomicOr(&states[at], marks); }
}

fn raiseFirst(group: u32, first: u32) {
  if (FIRSTS && atomicLoad(&firsts[group]) < first) { atomicMax(&firsts[group], first); }
}

fn addToAll(group: u32, count: u32, addend: Addend, top: u32) {
  let at = group * params.stride;
  atomicAdd(&states[at], count);
  if (!SUMMED) { return; }
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
  if (!SUMMED) { return; }
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
  var addend: Addend;
  if (SUMMED) { addend = addendOf(entry.raw); }
  if (FLOATS && params.stride > WORDS + 2u) {
    mark(entry.key, wholeFloat(vec2u(entry.raw[0], entry.raw[1])).marks);
  }
  let slot = slotFor(entry.key);
  if (slot == NO_SLOT) {
    let group = groupFor(entry.key);
    if (group == EMPTY) { return; }
    addToAll(group, 1u, addend, 0u);
    raiseFirst(group, ~entry.row);
    return;
  }
  addToOwn(slot, addend);
  // most rows are not the first, and reading waits for nobody
  if (FIRSTS && atomicLoad(&ownFirsts[slot]) < ~entry.row) { atomicMax(&ownFirsts[slot], ~entry.row); }
}

fn merge(slot: u32, group: u32) {
  if (group == EMPTY) { return; }
  if (FIRSTS) { raiseFirst(group, atomicLoad(&ownFirsts[slot])); }
  var sum: Addend;
  var top = 0u;
  if (SUMMED) {
    for (var k = 0u; k < WORDS; k++) { sum[k] = atomicLoad(&ownSums[k * SLOTS + slot]); }
    top = atomicLoad(&ownSums[WORDS * SLOTS + slot]);
    if (WORDS == 1u) {
      let low = sum[0];
      sum[0] = low + (top << 16u);
      top = (top >> 16u) + u32(sum[0] < low);
    }
  }
  addToAll(group, atomicLoad(&ownCounts[slot]), sum, top);
}
