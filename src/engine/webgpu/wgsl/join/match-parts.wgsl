// match-parts: the partner of every probe row, of sides whose rows are split by the same bits of their mixed keys
// (../reduce/row-parts.ts). A fragment after ../table/hash.wgsl and ../partitioned/cas-seen.wgsl.
//
// A workgroup owns a part of both sides: it puts the build rows into a table in its memory, and looks the probe rows
// up. Where there are too many of them for it, or the keys of a side are uneven, it sets control.keysLeft and does
// nothing: the call does without what it makes. Where build rows are equal, control.keysRepeat, and any of them is the
// partner. Part params.first is the dispatch's first. Bytes per build row: 8 or 12 read; per probe row as many, those
// of a build row that fit the GPU's first cache, and 4 written at random.

/// Spurious failures that one row takes.
const SPURIOUS_LIMIT: u32 = 256u;
const EMPTY: u32 = 0xffffffffu;
const SLOT_BITS: u32 = countTrailingZeros(SLOTS);

/// Per slot: in the upper half bits of a build row's key, in the lower one its number in the part, and 1; or 0.
var<workgroup> seen: array<atomic<u32>, SLOTS>;
var<workgroup> isLeft: u32;

/// A mixed key, and the upper word of one of two words.
struct Key { mixed: u32, upper: u32 }

fn buildKey(at: u32) -> Key {
  var key = Key(buildItems[at].x, 0u);
  if (WIDE_KEYS) { key.upper = buildWords[at]; }
  return key;
}

fn sameKey(a: Key, b: Key) -> bool { return a.mixed == b.mixed && a.upper == b.upper; }

/// What a key's slot has in its upper half.
fn tagOf(key: Key) -> u32 { return ((key.mixed >> SLOT_BITS) ^ ((key.upper * 0x9e3779b1u) >> 16u)) << 16u; }

/// Puts a build row into the table; false where it has no place.
fn put(first: u32, number: u32) -> bool {
  let key = buildKey(first + number);
  let wanted = tagOf(key) | (number + 1u);
  var slot = key.mixed % SLOTS;
  var spurious = 0u;
  for (var step = 0u; step < SLOTS && spurious < SPURIOUS_LIMIT;) {
    var holder = atomicLoad(&seen[slot]);
    if (holder == 0u) {
      let claim = exchangeSeen(slot, wanted);
      if (claim.stored) { return true; }
      holder = claim.old;
      if (holder == 0u) {
        spurious++;
        continue;
      }
    }
    if ((holder ^ wanted) < 0x10000u && sameKey(buildKey(first + (holder & 0xffffu) - 1u), key)) {
      atomicStore(&control.keysRepeat, 1u);
      return true;
    }
    slot = (slot + 1u) % SLOTS;
    step++;
  }
  return false;
}

/// The build row with a key; EMPTY where there is none.
fn partnerOf(key: Key, first: u32) -> u32 {
  let tag = tagOf(key);
  var slot = key.mixed % SLOTS;
  for (var step = 0u; step < SLOTS; step++) {
    let holder = atomicLoad(&seen[slot]);
    if (holder == 0u) { break; }
    let at = first + (holder & 0xffffu) - 1u;
    if ((holder ^ tag) < 0x10000u && sameKey(buildKey(at), key)) { return buildItems[at].y; }
    slot = (slot + 1u) % SLOTS;
  }
  return EMPTY;
}

@compute @workgroup_size(INVOCATIONS)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let number = workgroupOf(grid);
  if (number >= params.count) { return; }
  let part = params.first + number;
  let shift = params.fineBits;
  let firstBuild = buildStarts[part << shift];
  let builds = buildStarts[(part + 1u) << shift] - firstBuild;
  if (local == 0u) {
    isLeft = u32(builds > MOST_BUILDS || atomicLoad(&control.keysUneven) != 0u);
    if (isLeft != 0u) { atomicStore(&control.keysLeft, 1u); }
  }
  if (workgroupUniformLoad(&isLeft) != 0u) { return; }
  for (var each = local; each < builds; each += INVOCATIONS) {
    if (!put(firstBuild, each)) { atomicStore(&control.keysLeft, 1u); }
  }
  workgroupBarrier();
  let end = partStarts[(part + 1u) << shift];
  for (var each = partStarts[part << shift] + local; each < end; each += INVOCATIONS) {
    let item = items[each];
    var key = Key(item.x, 0u);
    if (WIDE_KEYS) { key.upper = words[each]; }
    partners[item.y] = partnerOf(key, firstBuild);
  }
}
