// apply: combines every element's value with the value of its key, which an earlier dispatch has inserted.
//
// Four pairs an invocation, 256 invocations a workgroup. Shares the table's values; key words do not change.
// Races: with other applies of the same operation, all atomic on the value word, so the order does not matter, except
// for the rounding of f32 add. Elements whose key is not there (it found no slot) are passed over.
// A probe that is left to a later dispatch has applied nothing yet, and has passed no slot with its key: each value is applied
// once. The list has room for all where an element cannot do without it: with f32 values, which may meet too many others,
// and with several windows. Else a long probe goes on in place when the list is full.
// Bytes per pair at load 0.5: 8 read (the key once per window), one sector of 32 read and written back.

// Word is u32 or i32, so that min and max are those of the value type.
@group(0) @binding(5) var<storage, read_write> table: array<atomic<Word>>;
@group(0) @binding(6) var<storage, read> values: array<u32>;

/// Times that one element meets another's change, or fails spuriously, before it is left to a later dispatch.
const CONTENTION_LIMIT: u32 = 1024u;

/// True when the value was combined.
fn applyF32(word: u32, value: u32) -> bool {
  for (var turn = 0u; turn < CONTENTION_LIMIT; turn++) {
    let old = bitcast<u32>(atomicLoad(&table[word]));
    let combined = combineF32(old, value);
    if (combined == old) { return true; }
    if (compareExchange(word, old, combined).stored) { return true; }
  }
  return false;
}

fn applyWord(word: u32, value: Word) {
  if (OP == 1u) { atomicAdd(&table[word], value); }
  if (OP == 2u) { atomicMin(&table[word], value); }
  if (OP == 3u) { atomicMax(&table[word], value); }
  if (OP == 4u) { atomicAnd(&table[word], value); }
  if (OP == 5u) { atomicOr(&table[word], value); }
  if (OP == 6u) { atomicXor(&table[word], value); }
}

fn applyAt(word: u32, element: u32, step: u32) {
  let value = values[params.valueShift + element];
  if (OP == 0u) {
    atomicStore(&table[word], bitcast<Word>(value));
  } else if (!VALUE_F32) {
    applyWord(word, bitcast<Word>(value));
  } else if (!applyF32(word, value)) {
    _ = leaveUnfinished(element, step);
  }
}

fn wordAt(slot: u32) -> u32 { return bitcast<u32>(atomicLoad(&table[slot * 2u])); }

fn applyElement(element: u32, start: Probe) {
  var probe = start;
  while (probe.step < probe.limit) {
    if (!isBound(probe.slot)) {
      _ = leaveUnfinished(element, probe.step);
      return;
    }
    let seen = seek(&probe);
    let word = boundSlot(probe.slot) * 2u;
    if (seen == probe.word) {
      applyAt(word + 1u, element, probe.step);
      return;
    }
    if (seen == EMPTY) { return; }
    probe.slot = slotAfter(probe.slot);
    probe.step++;
    let isLong = probe.step >= params.stepBudget && probe.step < probe.limit;
    if (isLong && leaveUnfinished(element, probe.step)) { return; }
  }
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = invocation(workgroup, workgroups, local);
  for (var item = 0u; item < ITEMS; item++) {
    let element = elementAt(thread, item);
    if (element == NO_ELEMENT) { continue; }
    let probe = probeAt(thread, item, keyOf(element), params.maxProbe);
    if (isBound(probe.slot)) { applyElement(element, probe); }
  }
}
