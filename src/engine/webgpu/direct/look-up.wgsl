// lookup: find and contains. Reads the table; nothing else may write it in the same dispatch.
//
// Four keys an invocation, 256 invocations a workgroup. Owns its elements' values and flags, which are gathered in
// workgroup memory.
// A probe ends at the key, at EMPTY, in an HOME_SORTED table at a key of a later home, or after maxProbe slots. One
// that a later dispatch goes on with has seen slots without the key, and nobody writes the table in between. With
// several windows the host zeroes the flags first, and each window's dispatch adds those of its own elements. Bytes per
// key at load 0.5: 4 read (keys and masks once per window), one sector of 32 read, 4 + 1 written (find), 1 (contains).

var<workgroup> found: atomic<u32>;
/// The flags of the workgroup's tile, four a word.
var<workgroup> tileFlags: array<atomic<u32>, WORKGROUP>;

fn writeHit(element: u32, at: u32, key: Key) {
  if (GROUP > 1u) { seen = lookAt(at); }
  let value = foundIn(seen, key);
  if (FLAGGED && firstWord(value) == ABSENT) { atomicStore(&control.ambiguous, 1u); }
  writeFound(element, value);
}

// With a GROUP of 1 the value has come with the state word, and is written after the loop; else it has still to be
// loaded.
fn meet(element: u32, at: u32, step: u32, side: bool, key: Key) -> u32 {
  if (VALUED && GROUP > 1u) { writeHit(element, at, key); }
  return HELD;
}

fn miss(element: u32, probe: Probe, state: u32) -> u32 {
  if (VALUED && GROUP > 1u) { writeFound(element, missingFound()); }
  return MISSED;
}

/// Goes along a probe and writes the element's value. True when the key is there.
fn lookUp(element: u32, key: Key, start: Probe) -> bool {
  var probe = start;
  let done = advance(&probe, key, element, min(probe.limit, params.stepBudget));
  if (done == AGAIN && probe.step < probe.limit) {
    _ = leaveUnfinished(element, probe.step);
    return false;
  }
  if (VALUED && GROUP == 1u && done == HELD) { writeHit(element, boundSlot(probe.slot), key); }
  if (VALUED && (done == AGAIN || (GROUP == 1u && done == MISSED))) { writeFound(element, missingFound()); }
  return done == HELD;
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  if (isElsewhere(grid)) { return; }
  let thread = invocation(grid, local);
  var hits = 0u;
  var elements: array<u32, ITEMS>;
  var itemKeys: array<Key, ITEMS>;
  // all loads before the first probe
  for (var item = 0u; item < ITEMS; item++) { elements[item] = elementAt(thread, item); }
  for (var item = 0u; item < ITEMS; item++) { itemKeys[item] = keyOf(select(elements[item], params.first, elements[item] == NO_ELEMENT)); }
  for (var item = 0u; item < ITEMS; item++) {
    let element = elements[item];
    if (element == NO_ELEMENT) {
      let at = numberOf(thread, item);
      if (VALUED && !FROM_WORKLIST && at < params.count && params.windowFirst == 0u) {
        writeFound(params.first + at, missingFound());
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
