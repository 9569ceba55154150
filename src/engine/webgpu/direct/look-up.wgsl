// lookup: find and contains. Reads the table; nothing else may write it in the same dispatch.
//
// Four keys an invocation, 256 invocations a workgroup. Owns its elements' values and flags, which are gathered in
// workgroup memory.
// A probe ends at the key, at EMPTY, in an HOME_SORTED table at a key of a later home, or after maxProbe slots. One that a later dispatch
// goes on with has seen slots without the key, and nobody writes the table in between.
// With several windows the host zeroes the flags first, and each window's dispatch adds those of its own elements.
// Bytes per key at load 0.5: 4 read (keys and masks once per window), one sector of 32 read, 4 + 1 written (find), 1 (contains).

/// Write values (find).
override VALUED: bool = true;
/// Write a byte per element into flags. False when only control.found is wanted.
override FLAGGED: bool = true;
/// Add the number of keys found to control.found.
override COUNTED: bool = false;
/// params.fill stands for "absent", in place of flags: a value that equals it is told by control.aborted.
override SENTINELS: bool = false;
/// The table's entries are in the order of their homes.
override HOME_SORTED: bool = false;

@group(0) @binding(5) var<storage, read> table: array<Slot>;
@group(0) @binding(6) var<storage, read_write> values: array<u32>;
@group(0) @binding(7) var<storage, read_write> flags: array<atomic<u32>>;

/// A value that was found equals the mark.
var<private> clashes: bool;
var<workgroup> found: atomic<u32>;
/// The flags of the workgroup's tile, four a word.
var<workgroup> tileFlags: array<atomic<u32>, WORKGROUP>;

fn wordAt(at: u32) -> u32 { return keyWord(table[at]); }

/// True when a probe has come to a key whose home is behind its own.
fn isBehind(probe: Probe, word: u32) -> bool {
  if (!HOME_SORTED || word >= TOMBSTONE) { return false; }
  let home = multiplyHigh(hashKey(word), params.slots);
  return probe.slot - home + select(0u, params.slots, probe.slot < home) < probe.step;
}

/// Goes along a probe and writes the element's value. True when the key is there.
fn lookUp(element: u32, key: u32, start: Probe) -> bool {
  var probe = start;
  let stop = min(probe.limit, params.stepBudget);
  while (probe.step < stop && isBound(probe.slot)) {
    let word = seek(&probe);
    if (word == probe.word) {
      if (VALUED) {
        let value = valueWord(table[boundSlot(probe.slot)], key);
        values[params.valueShift + element] = value;
        clashes = clashes || (SENTINELS && value == params.fill);
      }
      return true;
    }
    if (word == EMPTY || isBehind(probe, word)) { return absent(element); }
    probe.slot = slotAfter(probe.slot);
    probe.step++;
  }
  if (probe.step < probe.limit) {
    _ = leaveUnfinished(element, probe.step);
    return false;
  }
  return absent(element);
}

/// Writes the value of an absent key.
fn absent(element: u32) -> bool {
  if (VALUED) { values[params.valueShift + element] = params.fill; }
  return false;
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  if (isElsewhere(workgroup, workgroups)) { return; }
  let thread = invocation(workgroup, workgroups, local);
  var hits = 0u;
  var elements: array<u32, ITEMS>;
  var itemKeys: array<u32, ITEMS>;
  // all loads before the first probe
  for (var item = 0u; item < ITEMS; item++) { elements[item] = elementAt(thread, item); }
  for (var item = 0u; item < ITEMS; item++) { itemKeys[item] = keyOf(select(elements[item], params.first, elements[item] == NO_ELEMENT)); }
  for (var item = 0u; item < ITEMS; item++) {
    let element = elements[item];
    if (element == NO_ELEMENT) {
      let at = numberOf(thread, item);
      if (VALUED && !FROM_WORKLIST && at < params.count && params.windowFirst == 0u) {
        values[params.valueShift + params.first + at] = params.fill;
      }
      continue;
    }
    let key = itemKeys[item];
    let probe = probeAt(thread, item, key, params.maxProbe);
    if (!isBound(probe.slot) || !lookUp(element, key, probe)) { continue; }
    hits++;
    if (!FLAGGED) { continue; }
    let bit = 1u << (element % 4u * 8u);
    if (FROM_WORKLIST) { atomicOr(&flags[params.flagShift + element / 4u], bit); } else { atomicOr(&tileFlags[numberOf(thread, item) / 4u % WORKGROUP], bit); }
  }
  if (clashes) { atomicStore(&control.aborted, 1u); }
  if (FLAGGED && !FROM_WORKLIST) {
    workgroupBarrier();
    if (numberOf(thread, 0u) - local + local * 4u < params.count) {
      let bytes = atomicLoad(&tileFlags[local]);
      let word = params.flagShift + (params.first + numberOf(thread, 0u) - local) / 4u + local;
      if (!WINDOWED) { atomicStore(&flags[word], bytes); } else if (bytes != 0u) { atomicOr(&flags[word], bytes); }
    }
  }
  if (COUNTED) {
    atomicAdd(&found, hits);
    workgroupBarrier();
    if (local == 0u) { atomicAdd(&control.found, atomicLoad(&found)); }
  }
}
