// In place of windows.wgsl and group.wgsl for most dispatches: the whole table is bound, probes look at one slot a
// step, and end at the key or an EMPTY slot.

fn isElsewhere(grid: Grid) -> bool { return false; }
fn isBound(slot: u32) -> bool { return true; }
fn boundSlot(slot: u32) -> u32 { return slot; }
fn isBehind(probe: Probe, state: u32) -> bool { return false; }

/// The slot where the last seek ended, as far as a probe sees it: the value is there with the state word.
var<private> seen: Look;

fn seek(probe: ptr<function, Probe>) -> u32 {
  seen = lookAt((*probe).slot);
  return stateSeen(seen);
}
