// lookup: find and contains. Reads the table; nothing else may write it in the same dispatch.
//
// Four keys an invocation, 256 invocations a workgroup. Owns its elements' values and flags.
// A walk ends at the key, at EMPTY, or after maxProbe slots.
// Bytes per key at load 0.5: 4 read, one sector of 32 read, 4 + 1 written (find), 1 (contains).

/// Write values (find).
override VALUED: bool = true;
/// Write a byte per element into flags. False when only control.found is wanted.
override FLAGGED: bool = true;
/// Add the number of keys found to control.found.
override COUNTED: bool = false;

@group(0) @binding(5) var<storage, read> table: array<Slot>;
@group(0) @binding(6) var<storage, read_write> values: array<u32>;
@group(0) @binding(7) var<storage, read_write> flags: array<atomic<u32>>;

const ABSENT: u32 = 0u;
const FOUND: u32 = 1u;
const UNFINISHED: u32 = 2u;

var<workgroup> found: atomic<u32>;

/// Looks one element up and writes its value.
fn lookUp(element: u32) -> u32 {
  let key = keyOf(element);
  var probe = startProbe(key, params.maxProbe);
  while (probe.step < probe.limit) {
    let slot = table[probe.slot];
    if (keyWord(slot) == probe.word) {
      if (VALUED) { values[params.valueShift + element] = valueWord(slot, key); }
      return FOUND;
    }
    if (keyWord(slot) == EMPTY) { break; }
    probe.slot = slotAfter(probe.slot);
    probe.step++;
    if (probe.step >= params.stepBudget && probe.step < probe.limit && leaveUnfinished(element)) { return UNFINISHED; }
  }
  if (VALUED) { values[params.valueShift + element] = params.fill; }
  return ABSENT;
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = invocation(workgroup, workgroups, local);
  var bytes = 0u;
  var hits = 0u;
  for (var item = 0u; item < ITEMS; item++) {
    let element = elementAt(thread, item);
    if (element == NO_ELEMENT) {
      if (VALUED && !LISTED && thread * ITEMS + item < params.count) {
        values[params.valueShift + thread * ITEMS + item] = params.fill;
      }
      continue;
    }
    if (lookUp(element) != FOUND) { continue; }
    hits++;
    if (LISTED && FLAGGED) {
      atomicOr(&flags[params.flagShift + element / 4u], 1u << (element % 4u * 8u));
    }
    bytes |= 1u << (item * 8u);
  }
  if (FLAGGED && !LISTED && thread * ITEMS < params.count) {
    atomicStore(&flags[params.flagShift + thread], bytes);
  }
  if (COUNTED) {
    atomicAdd(&found, hits);
    workgroupBarrier();
    if (local == 0u) { atomicAdd(&control.found, atomicLoad(&found)); }
  }
}
