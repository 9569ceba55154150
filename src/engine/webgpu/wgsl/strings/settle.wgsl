// settle: copies the strings of elements that have claimed slots into the arena, and writes their tags and numbers.
//
// After each dispatch of probe with CLAIMS, in the same submission, so no other dispatch meets an element's number in a
// slot. An element an invocation, 256 invocations a workgroup, which takes room in the arena for all of its strings at
// once. Owns the slots that its elements have claimed. Bytes per element: 4 read; per claim the string read twice and
// written.

var<workgroup> wanted: atomic<u32>;
var<workgroup> claims: atomic<u32>;
var<workgroup> base: u32;

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let element = invocation(grid, local);
  var place = 0u;
  if (element < params.count) { place = places[element]; }
  var start = 0u;
  var length = 0u;
  var room = 0u;
  if (isClaim(place)) {
    start = startOf(element);
    length = lengthOf(element);
    room = atomicAdd(&wanted, 1u + wordsFor(length));
    atomicAdd(&claims, 1u);
  }
  workgroupBarrier();
  if (local == 0u && atomicLoad(&claims) > 0u) {
    base = atomicAdd(&control.used, atomicLoad(&wanted));
    atomicAdd(&control.strings, atomicLoad(&claims));
  }
  workgroupBarrier();
  if (!isClaim(place)) { return; }
  let record = base + room;
  arena[record] = length;
  let count = wordsFor(length);
  for (var i = 0u; i < count; i++) { arena[record + 1u + i] = wordOf(start, length, i); }
  let slot = place & SLOT_BITS;
  atomicStore(&table[slot * 2u + 1u], record);
  atomicStore(&table[slot * 2u], tagOf(start, length));
  places[element] = DONE | slot;
}
