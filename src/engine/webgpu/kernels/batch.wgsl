// Which elements an invocation handles: four neighbours each, so that their masks and flags share one word.
// In a LISTED dispatch the elements are those that an earlier dispatch left unfinished. A fragment after control.wgsl and probe.wgsl.

/// The elements are those of the list at params.listFrom.
override LISTED: bool = false;
/// Elements whose byte in `mask` is 0 are left out.
override MASKED: bool = false;

const WORKGROUP: u32 = 256u;
/// Elements per invocation.
const ITEMS: u32 = 4u;
/// Stands for "no element here".
const NO_ELEMENT: u32 = 0xffffffffu;

@group(0) @binding(2) var<storage, read> keys: array<u32>;
@group(0) @binding(3) var<storage, read> mask: array<u32>;
@group(0) @binding(4) var<storage, read_write> lists: array<u32>;

/// Number of this invocation over a grid of workgroups.
fn invocation(workgroup: vec3u, workgroups: vec3u, local: u32) -> u32 {
  return (workgroup.y * workgroups.x + workgroup.x) * WORKGROUP + local;
}

/// The element of an invocation's item, or NO_ELEMENT when it is beyond the batch or masked out.
fn elementAt(thread: u32, item: u32) -> u32 {
  let at = thread * ITEMS + item;
  if (at >= params.count) { return NO_ELEMENT; }
  if (LISTED) { return lists[params.listFrom + at]; }
  if (MASKED) {
    let bytes = mask[params.maskShift + thread];
    if (((bytes >> (item * 8u)) & 0xffu) == 0u) { return NO_ELEMENT; }
  }
  return at;
}

fn keyOf(element: u32) -> u32 {
  return canonicalKey(keys[params.keyShift + element]);
}

/// Leaves an element to a later dispatch. False when the list is full; the host sees that from the count.
fn leaveUnfinished(element: u32) -> bool {
  // the count is past the room already: long walks ask at every step, and many additions to one word are slow
  if (atomicLoad(&control.unfinished) > params.listRoom) { return false; }
  let at = atomicAdd(&control.unfinished, 1u);
  if (at >= params.listRoom) { return false; }
  lists[params.listTo + at] = element;
  return true;
}
