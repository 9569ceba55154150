// sum-parts: the groups of a part's rows: how many rows each has, the first one, and (SUMMED) how many values, and
// their sum, as a state of add-values.wgsl. A fragment after part-items.wgsl, addends.wgsl, ../table/hash.wgsl and
// ../partitioned/cas-seen.wgsl.
//
// A workgroup owns a part, whose groups have slots of a table in its memory; they get numbers that no other workgroup
// has, in any order. Where groups find no slot, or there are more than params.groups in all, it sets control.keysLeft:
// what the call has made is to no purpose then. Part params.first is the dispatch's first. Values of one word lie
// beside the rows (CARRIED), others in their column. Bytes per row: 8 read, and a value, where it is not carried at
// random; per group 8 written, and 4 × WORDS + 8 for a sum.

/// Rows that an invocation loads at once.
const BATCH: u32 = 4u;
/// Steps of a probe: longer ones mean that there are too many groups.
const STEPS: u32 = SLOTS / 2u;
/// Spurious failures that one row takes.
const SPURIOUS_LIMIT: u32 = 256u;
const EMPTY: u32 = 0xffffffffu;

/// Per slot: the bits of the mixed key that its part does not tell, and 1; or 0. Then what is known of the group, the
/// first row as ~row.
var<workgroup> seen: array<atomic<u32>, SLOTS>;
var<workgroup> ownCounts: array<atomic<u32>, SLOTS>;
var<workgroup> ownFirsts: array<atomic<u32>, SLOTS>;
/// Values that are not null, where some are.
var<workgroup> ownValues: array<atomic<u32>, VALUE_SLOTS>;
/// Word k of a slot's sum is word k × SLOTS + slot.
var<workgroup> ownSums: array<atomic<u32>, SUM_SLOTS>;
/// Groups that have slots, those that are written, and the number of the first one.
var<workgroup> taken: atomic<u32>;
var<workgroup> written: atomic<u32>;
var<workgroup> numbers: u32;
/// Not 0: a group has no slot.
var<workgroup> crowded: atomic<u32>;

/// The slot of a key's group, which gets one if it has none; EMPTY where the table has none.
fn slotOf(mixed: u32) -> u32 {
  let wanted = ((mixed << params.partBits) >> params.partBits) + 1u;
  var slot = mixed % SLOTS;
  var spurious = 0u;
  for (var step = 0u; step < STEPS && spurious < SPURIOUS_LIMIT;) {
    var holder = atomicLoad(&seen[slot]);
    if (holder == 0u) {
      let claim = exchangeSeen(slot, wanted);
      if (claim.stored) {
        atomicAdd(&taken, 1u);
        return slot;
      }
      holder = claim.old;
      if (holder == 0u) {
        spurious++;
        continue;
      }
    }
    if (holder == wanted) { return slot; }
    slot = (slot + 1u) % SLOTS;
    step++;
  }
  atomicStore(&crowded, 1u);
  return EMPTY;
}

/// What is added up of a row, and whether there is anything.
struct Value { isThere: bool, addend: Addend }

fn valueAt(at: u32, row: u32) -> Value {
  var value: Value;
  value.isThere = SUMMED;
  if (CARRIED) { value.addend[0] = data[at]; } else if (SUMMED) {
    value.isThere = !isNull(row);
    value.addend = addendOf(rawOf(row));
  }
  return value;
}

fn addItem(item: vec2u, value: Value) {
  let slot = slotOf(item.x);
  if (slot == EMPTY) { return; }
  atomicAdd(&ownCounts[slot], 1u);
  // most rows are not the first, and reading waits for nobody
  if (atomicLoad(&ownFirsts[slot]) < ~item.y) { atomicMax(&ownFirsts[slot], ~item.y); }
  if (!value.isThere) { return; }
  if (NULLABLE) { atomicAdd(&ownValues[slot], 1u); }
  var carry = 0u;
  for (var k = 0u; k < WORDS; k++) {
    let amount = value.addend[k] + carry;
    carry = u32(amount < carry);
    if (amount > 0u) { carry += u32(atomicAdd(&ownSums[k * SLOTS + slot], amount) > ~amount); }
  }
  if (carry > 0u) { atomicAdd(&ownSums[WORDS * SLOTS + slot], carry); }
}

fn writeSum(group: u32, slot: u32, count: u32) {
  let at = group * params.stride;
  sums[at] = count;
  if (NULLABLE) { sums[at] = atomicLoad(&ownValues[slot]); }
  for (var k = 0u; k <= WORDS; k++) { sums[at + 1u + k] = atomicLoad(&ownSums[k * SLOTS + slot]); }
}

@compute @workgroup_size(INVOCATIONS)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let number = workgroupOf(grid);
  if (number >= params.count) { return; }
  let part = params.first + number;
  let begin = startOf(part, params.partBits);
  let end = startOf(part + 1u, params.partBits);
  if (begin == end) { return; }
  for (var each = begin + local; each < end && atomicLoad(&crowded) == 0u; each += BATCH * INVOCATIONS) {
    // loaded together
    let row = vec4u(each, each + INVOCATIONS, each + 2u * INVOCATIONS, each + 3u * INVOCATIONS);
    let at = min(row, vec4u(end - 1u));
    let a = items[at.x];
    let b = items[at.y];
    let c = items[at.z];
    let d = items[at.w];
    let valueA = valueAt(at.x, a.y);
    let valueB = valueAt(at.y, b.y);
    let valueC = valueAt(at.z, c.y);
    let valueD = valueAt(at.w, d.y);
    addItem(a, valueA);
    if (row.y < end) { addItem(b, valueB); }
    if (row.z < end) { addItem(c, valueC); }
    if (row.w < end) { addItem(d, valueD); }
  }
  workgroupBarrier();
  if (local == 0u) {
    let groups = atomicLoad(&taken);
    numbers = atomicAdd(&control.keyGroups, groups);
    if (atomicLoad(&crowded) != 0u || numbers + groups > params.groups) {
      atomicStore(&control.keysLeft, 1u);
      numbers = EMPTY;
    }
  }
  let first = workgroupUniformLoad(&numbers);
  if (first == EMPTY) { return; }
  for (var slot = local; slot < SLOTS; slot += INVOCATIONS) {
    if (atomicLoad(&seen[slot]) == 0u) { continue; }
    let group = first + atomicAdd(&written, 1u);
    let count = atomicLoad(&ownCounts[slot]);
    counts[group] = count;
    firsts[group] = atomicLoad(&ownFirsts[slot]);
    if (SUMMED) { writeSum(group, slot, count); }
  }
}
