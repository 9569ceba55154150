// A table of the build rows of one part in a workgroup's memory: of sides whose rows are split by the same bits of their
// mixed keys (../reduce/row-parts.ts). A fragment after ../table/hash.wgsl and ../partitioned/cas-seen.wgsl, with
// part-words.wgsl or no-part-words.wgsl.
//
// Where there are too many rows for it, or the keys of a side are uneven, the workgroup sets control.keysLeft: the call
// does without what it makes. Where build rows are equal, control.keysRepeat; then any of them is found.

/// Spurious failures that one row takes.
const SPURIOUS_LIMIT: u32 = 256u;
const EMPTY: u32 = 0xffffffffu;
/// Rows that an invocation loads at once, and looks for one after another in one loop: a row that takes many steps keeps
/// the other invocations from none of theirs.
const BATCH: u32 = 4u;
const NUMBERS: u32 = (1u << NUMBER_BITS) - 1u;

/// Per slot: in the lower NUMBER_BITS a build row's number in the part, and 1, above them bits of its key; or 0.
var<workgroup> seen: array<atomic<u32>, SLOTS>;
var<workgroup> isLeft: u32;
/// Where the part's build rows and probe rows begin and end.
var<workgroup> partRows: vec4u;

/// Mixed keys, and the upper words of keys of two.
struct Keys { mixed: vec4u, upper: vec4u }
struct Key { mixed: u32, upper: u32 }

fn keyIn(keys: Keys, i: u32) -> Key { return Key(wordIn(keys.mixed, i), wordIn(keys.upper, i)); }
fn wordIn(words: vec4u, i: u32) -> u32 {
  return select(select(words.x, words.y, i == 1u), select(words.z, words.w, i == 3u), i >= 2u);
}

/// A batch of an invocation's rows from `first` on, of which `last` is the last there is.
fn rowsOf(first: u32, last: u32) -> vec4u {
  return min(vec4u(first, first + INVOCATIONS, first + 2u * INVOCATIONS, first + 3u * INVOCATIONS), vec4u(last));
}

fn buildKeys(at: vec4u) -> Keys {
  var keys: Keys;
  keys.mixed = vec4u(buildItems[at.x].x, buildItems[at.y].x, buildItems[at.z].x, buildItems[at.w].x);
  if (WIDE_KEYS) { keys.upper = vec4u(buildWord(at.x), buildWord(at.y), buildWord(at.z), buildWord(at.w)); }
  return keys;
}

fn probeKeys(at: vec4u) -> Keys {
  var keys: Keys;
  keys.mixed = vec4u(items[at.x].x, items[at.y].x, items[at.z].x, items[at.w].x);
  if (WIDE_KEYS) { keys.upper = vec4u(probeWord(at.x), probeWord(at.y), probeWord(at.z), probeWord(at.w)); }
  return keys;
}

/// What a key's slot has above the number. EXACT: all bits of a key of one word that its part does not tell.
fn tagOf(key: Key) -> u32 {
  if (EXACT) { return key.mixed << NUMBER_BITS; }
  return ((key.mixed * 0x85ebca6bu) ^ (key.upper * 0x9e3779b1u)) & ~NUMBERS;
}

fn isSame(holder: u32, key: Key, first: u32) -> bool {
  if ((holder ^ tagOf(key)) > NUMBERS) { return false; }
  if (EXACT) { return true; }
  let at = first + (holder & NUMBERS) - 1u;
  return buildItems[at].x == key.mixed && (!WIDE_KEYS || buildWord(at) == key.upper);
}

/// Puts the first `count` of a batch of build rows into the table, whose numbers in the part are from `number` on.
fn put(keys: Keys, count: u32, first: u32, number: u32) {
  var i = 0u;
  var key = keyIn(keys, 0u);
  var slot = key.mixed % SLOTS;
  var tries = 0u;
  while (i < count) {
    var holder = atomicLoad(&seen[slot]);
    var isDone = false;
    if (holder == 0u) {
      let claim = exchangeSeen(slot, tagOf(key) | (number + i * INVOCATIONS + 1u));
      isDone = claim.stored;
      holder = claim.old;
    }
    if (!isDone && holder != 0u) {
      if (isSame(holder, key, first)) {
        atomicStore(&control.keysRepeat, 1u);
        isDone = true;
      }
      slot = (slot + 1u) % SLOTS;
    }
    tries++;
    if (!isDone && tries < SLOTS + SPURIOUS_LIMIT) { continue; }
    if (!isDone) { atomicStore(&control.keysLeft, 1u); }
    i++;
    key = keyIn(keys, i);
    slot = key.mixed % SLOTS;
    tries = 0u;
  }
}

/// Where the build rows with the first `count` of some keys are; EMPTY where there is none.
fn placesOf(keys: Keys, count: u32, first: u32) -> vec4u {
  var places = vec4u(EMPTY);
  var i = 0u;
  var key = keyIn(keys, 0u);
  var slot = key.mixed % SLOTS;
  var tries = 0u;
  while (i < count) {
    let holder = atomicLoad(&seen[slot]);
    slot = (slot + 1u) % SLOTS;
    tries++;
    let isFound = holder != 0u && isSame(holder, key, first);
    if (holder != 0u && !isFound && tries < SLOTS) { continue; }
    let place = select(EMPTY, first + (holder & NUMBERS) - 1u, isFound);
    places = select(places, vec4u(place), vec4u(0u, 1u, 2u, 3u) == vec4u(i));
    i++;
    key = keyIn(keys, i);
    slot = key.mixed % SLOTS;
    tries = 0u;
  }
  return places;
}

/// How many of a batch of rows from `first` on there are before `end`.
fn countOf(first: u32, end: u32) -> u32 {
  if (first >= end) { return 0u; }
  return min((end - first - 1u) / INVOCATIONS + 1u, BATCH);
}

/// Puts the build rows of the dispatch's part `number` into the table; false where there is nothing more to do.
fn buildTable(number: u32, local: u32) -> bool {
  if (local == 0u) {
    let part = params.first + number;
    let shift = params.fineBits;
    let begin = part << shift;
    let end = (part + 1u) << shift;
    partRows = vec4u(buildStarts[begin], buildStarts[end], partStarts[begin], partStarts[end]);
    isLeft = u32(partRows.y - partRows.x > MOST_BUILDS || atomicLoad(&control.keysUneven) != 0u);
    if (isLeft != 0u) { atomicStore(&control.keysLeft, 1u); }
  }
  if (workgroupUniformLoad(&isLeft) != 0u) { return false; }
  let rows = workgroupUniformLoad(&partRows);
  for (var at = rows.x + local; at < rows.y; at += BATCH * INVOCATIONS) {
    put(buildKeys(rowsOf(at, rows.y - 1u)), countOf(at, rows.y), rows.x, at - rows.x);
  }
  workgroupBarrier();
  return true;
}
