// raise: the greatest word of each group, of one word of its values from the highest down (`phase`), among the rows
// that have the words above; flipped words find the least value. After all words: a row that has them, the first one or
// the last (`latest`), the first one as the greatest of ~row. Without VALUED it looks for rows alone. States are 0 at
// first; no row's number is written as 0. A fragment after group-cache.wgsl and values.wgsl.
//
// INVOCATIONS invocations a workgroup, params.items rows each. Shares: the states of this phase, which only rise; those
// of phases before do not change. Bytes per row: 4 and the value read, and the group's states, which stay in the cache
// where groups are few.

struct Entry { isTaken: bool, key: RowKey, word: u32 }

var<workgroup> greatest: array<atomic<u32>, CACHE + 1u>;

fn load(element: u32) -> Entry {
  let row = rowAt(element);
  let key = keyAt(element);
  if (!VALUED) { return Entry(true, key, rowWord(row)); }
  return Entry(isCandidate(row, key), key, wordOf(row));
}

fn isCandidate(row: u32, key: RowKey) -> bool {
  if (isNull(row)) { return false; }
  if (params.phase == 0u) { return true; }
  let group = groupFor(key);
  for (var k = 0u; k < params.phase; k++) {
    let settled = atomicLoad(&states[k * params.groups + group]);
    if ((orderedWord(row, params.words - 1u - k) ^ params.flip) != settled) { return false; }
  }
  return true;
}

fn wordOf(row: u32) -> u32 {
  if (params.phase < params.words) { return orderedWord(row, params.words - 1u - params.phase) ^ params.flip; }
  return rowWord(row);
}

fn rowWord(row: u32) -> u32 { return select(~row, row + 1u, params.latest == 1u); }

fn raise(group: u32, word: u32) {
  let at = params.phase * params.groups + group;
  // most rows raise nothing, and reading waits for nobody
  if (atomicLoad(&states[at]) < word) { atomicMax(&states[at], word); }
}

fn take(entry: Entry) {
  let slot = slotFor(entry.key);
  if (slot == NO_SLOT) {
    raise(groupFor(entry.key), entry.word);
  } else if (atomicLoad(&greatest[slot]) < entry.word) {
    atomicMax(&greatest[slot], entry.word);
  }
}

fn merge(slot: u32, group: u32) { raise(group, atomicLoad(&greatest[slot])); }
