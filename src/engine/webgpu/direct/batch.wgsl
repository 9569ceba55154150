// Which elements an invocation handles: a workgroup has a tile of neighbours, and takes them row by row, so that
// neighbouring invocations read neighbouring elements. In a FROM_WORKLIST dispatch the elements are those that an
// earlier dispatch left unfinished, and their probes go on from there. A fragment after control.ts and probe.wgsl.

const WORKGROUP: u32 = 256u;
/// Elements per invocation.
const ITEMS: u32 = 4u;
/// Stands for "no element here".
const NO_ELEMENT: u32 = 0xffffffffu;

/// Number of this invocation over a grid of workgroups.
fn invocation(grid: Grid, local: u32) -> u32 { return workgroupOf(grid) * WORKGROUP + local; }

/// Number of an invocation's item, among the elements or entries of the dispatch.
fn numberOf(thread: u32, item: u32) -> u32 {
  return (thread / WORKGROUP) * (WORKGROUP * ITEMS) + item * WORKGROUP + thread % WORKGROUP;
}

/// The element of an invocation's item, or NO_ELEMENT when it is beyond the batch or masked out.
fn elementAt(thread: u32, item: u32) -> u32 {
  let at = numberOf(thread, item);
  if (at >= params.count) { return NO_ELEMENT; }
  if (FROM_WORKLIST) { return worklists[params.worklistFrom + at].x; }
  let element = params.first + at;
  if (MASKED) {
    let bytes = mask[params.maskShift + element / 4u];
    if (((bytes >> (element % 4u * 8u)) & 0xffu) == 0u) { return NO_ELEMENT; }
  }
  return element;
}

/// The probe of an item's key, over `reach` slots at most: from home, or (FROM_WORKLIST) from where an earlier dispatch
/// left it.
fn probeAt(thread: u32, item: u32, key: Key, reach: u32) -> Probe {
  var probe = startProbe(key, reach);
  if (FROM_WORKLIST && !probe.side) {
    let step = worklists[params.worklistFrom + numberOf(thread, item)].y;
    // slots from home to the end of the table, where the probe goes on at slot 0
    let room = params.slots - probe.slot;
    probe.slot = select(probe.slot + step, step - room, step >= room);
    probe.step = step;
  }
  return probe;
}

/// Leaves an element to a later dispatch, which goes on at `step`. False when the list is full; the host sees that from
/// the count, and has the batch handled again.
fn leaveUnfinished(element: u32, step: u32) -> bool {
  // the count is past the room already: many additions to one word are slow
  if (atomicLoad(&control.unfinished) > params.worklistRoom) { return false; }
  let at = atomicAdd(&control.unfinished, 1u);
  if (at >= params.worklistRoom) { return false; }
  worklists[params.worklistTo + at] = vec2u(element, step);
  return true;
}
