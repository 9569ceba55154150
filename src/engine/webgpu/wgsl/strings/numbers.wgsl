// numbers: writes the number of each element's string, out of the slot that its place says; NO_NUMBER for strings that
// have none.
//
// An element an invocation, 256 invocations a workgroup. Bytes per element: 4 read, a sector of 32 read, 4 written.

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let element = invocation(grid, local);
  if (element >= params.count) { return; }
  let place = places[element];
  var number = 0u;
  if (place == ABSENT) {
    number = NO_NUMBER;
  } else if (place >= DONE && place != LEFT_OUT) {
    number = slots[(place & SLOT_BITS) * 2u + 1u];
  }
  numbers[params.numberShift + element] = number;
}
