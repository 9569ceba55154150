// choose: of the elements with one key, finds the first, or (LAST) the last. A table of the batch's element numbers is
// built, in which a slot belongs to a key and holds the least number of its elements; LAST numbers elements from the
// batch's end.
//
// Four elements an invocation, 256 invocations a workgroup, in the order of their numbers. Owns its elements' places;
// shares the table. Races: a slot is claimed by a compare-exchange from EMPTY; from then on its number only goes down,
// among elements of one key, which are compared through the batch's keys, and these nobody writes. So whoever meets a
// slot compares with the right key, whichever number it sees. Going over an element again changes nothing. Bytes per
// element at load 0.5: 4 × key words read, about 1.5 slots and as many keys read at random, 4 written.

/// Spurious failures that one element takes before the host has all go again.
const SPURIOUS_LIMIT: u32 = 256u;

/// The place of an element, EMPTY when it has to be tried again.
fn placeOf(element: u32, key: Key) -> u32 {
  let number = numberOf(element);
  var slot = homeOfState(stateOf(key));
  var spurious = 0u;
  for (var step = 0u; step < params.slots;) {
    var seen = atomicLoad(&table[slot]);
    if (seen == EMPTY) {
      let claim = compareExchange(slot, EMPTY, number);
      if (claim.stored) { return slot; }
      if (claim.old == EMPTY) {
        spurious++;
        if (spurious < SPURIOUS_LIMIT) { continue; }
        return EMPTY;
      }
      seen = claim.old;
    }
    if (sameKey(keyOf(numberOf(seen)), key)) {
      // many additions to one word are slow: where the number is low already, none is made
      if (number < seen) { atomicMin(&table[slot], number); }
      return slot;
    }
    slot = slotAfter(slot);
    step++;
  }
  return EMPTY;
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let tile = workgroupOf(grid);
  for (var item = 0u; item < ITEMS; item++) {
    let at = (tile * ITEMS + item) * WORKGROUP + local;
    if (at >= params.count) { continue; }
    let element = params.first + select(at, params.count - 1u - at, LAST);
    if (!isSelected(element)) { continue; }
    let place = placeOf(element, keyOf(element));
    places[element] = place;
    if (place == EMPTY) { atomicAdd(&control.unfinished, 1u); }
  }
}
