// move-slots: puts the strings of a dictionary into the slots of another hash table, which is empty: a larger one, or,
// with REHASH, one with another seed, for which strings are read in the arena, the binding `bytes`.
//
// A slot an invocation, 256 invocations a workgroup. Races: invocations claim slots at once; all strings differ, so
// each takes the first one that is free for it. Bytes per slot: 8 read, and per string a sector of 32 read and written.

/// Failures of compare-exchange beyond which a string is given up, which the host is told.
const FAILURES: u32 = 65536u;

fn moveString(state: u32, number: u32) {
  var slot = state & params.slotMask;
  var failures = 0u;
  for (var step = 0u; step <= params.slotMask && failures < FAILURES; ) {
    let claim = compareExchange(slot * 2u, EMPTY, state);
    if (claim.stored) {
      atomicStore(&table[slot * 2u + 1u], number);
      return;
    }
    if (claim.old == EMPTY) {
      failures++;
    } else {
      step++;
      slot = (slot + 1u) & params.slotMask;
    }
  }
  atomicAdd(&control.unfinished, 1u);
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let at = invocation(grid, local);
  if (at >= params.count) { return; }
  let state = slots[at * 2u];
  if (state == EMPTY) { return; }
  let record = slots[at * 2u + 1u];
  if (REHASH) { moveString(tagOf((record + 1u) * 4u, bytes[record]), record); } else { moveString(state, record); }
}
