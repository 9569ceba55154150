// sum-parts: the groups of a part's rows: how many rows each has, the first one, and (VALUED) the sum of their values.
// A fragment after part-items.wgsl, ../table/hash.wgsl and ../partitioned/cas-seen.wgsl.
//
// A workgroup owns a part, whose groups have slots of a table in its memory; they get numbers that no other workgroup
// has, in any order. Where groups find no slot, or there are more than params.groups in all, it sets control.keysLeft:
// what the call has made is to no purpose then. Part params.first is the dispatch's first. Bytes per row: 8 read, and 4
// for a value; per group 8 written, and 16 for a sum.

/// Rows that an invocation loads at once.
const BATCH: u32 = 4u;
/// Steps of a probe: longer ones mean that there are too many groups.
const STEPS: u32 = SLOTS / 2u;
/// Spurious failures that one row takes.
const SPURIOUS_LIMIT: u32 = 256u;
const NONE: u32 = 0xffffffffu;

/// Per slot: the bits of the mixed key that its part does not tell, and 1; or 0. Then what is known of the group, the
/// first row as ~row.
var<workgroup> seen: array<atomic<u32>, SLOTS>;
var<workgroup> ownCounts: array<atomic<u32>, SLOTS>;
var<workgroup> ownFirsts: array<atomic<u32>, SLOTS>;
var<workgroup> ownLows: array<atomic<u32>, SUMMED_SLOTS>;
var<workgroup> ownHighs: array<atomic<u32>, SUMMED_SLOTS>;
/// Groups that have slots, those that are written, and the number of the first one.
var<workgroup> taken: atomic<u32>;
var<workgroup> written: atomic<u32>;
var<workgroup> numbers: u32;
/// Not 0: a group has no slot.
var<workgroup> crowded: atomic<u32>;

/// The slot of a key's group, which gets one if it has none; NONE where the table has none.
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
  return NONE;
}

fn addItem(item: vec2u, value: u32) {
  let slot = slotOf(item.x);
  if (slot == NONE) { return; }
  atomicAdd(&ownCounts[slot], 1u);
  // most rows are not the first, and reading waits for nobody
  if (atomicLoad(&ownFirsts[slot]) < ~item.y) { atomicMax(&ownFirsts[slot], ~item.y); }
  if (!VALUED) { return; }
  let before = atomicAdd(&ownLows[slot], value);
  if (before + value < before) { atomicAdd(&ownHighs[slot], 1u); }
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
    var value = vec4u(0u);
    if (VALUED) { value = vec4u(words[at.x], words[at.y], words[at.z], words[at.w]); }
    addItem(a, value.x);
    if (row.y < end) { addItem(b, value.y); }
    if (row.z < end) { addItem(c, value.z); }
    if (row.w < end) { addItem(d, value.w); }
  }
  workgroupBarrier();
  if (local == 0u) {
    let groups = atomicLoad(&taken);
    numbers = atomicAdd(&control.keyGroups, groups);
    if (atomicLoad(&crowded) != 0u || numbers + groups > params.groups) {
      atomicStore(&control.keysLeft, 1u);
      numbers = NONE;
    }
  }
  let first = workgroupUniformLoad(&numbers);
  if (first == NONE) { return; }
  for (var slot = local; slot < SLOTS; slot += INVOCATIONS) {
    if (atomicLoad(&seen[slot]) == 0u) { continue; }
    let group = first + atomicAdd(&written, 1u);
    let count = atomicLoad(&ownCounts[slot]);
    counts[group] = count;
    firsts[group] = atomicLoad(&ownFirsts[slot]);
    if (VALUED) { sums[group] = vec4u(count, atomicLoad(&ownLows[slot]), atomicLoad(&ownHighs[slot]), 0u); }
  }
}
