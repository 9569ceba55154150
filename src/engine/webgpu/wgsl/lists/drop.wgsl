// drop: empties the lists of a batch, and counts what they had. One element an invocation; of equal numbers the one
// that takes the length writes the place. Bytes an element: 4 read, 8 to 12 at random.

var<workgroup> entriesHere: atomic<u32>;
var<workgroup> filledHere: atomic<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let row = invocation(grid, local);
  if (row < params.count) {
    let number = numbers[params.numbersShift + row];
    if (number != NO_LIST && atomicLoad(&heads[number * HEAD]) != 0u) {
      let length = atomicExchange(&heads[number * HEAD], 0u);
      if (length > 0u) {
        if (HEAD == 2u) { atomicStore(&heads[number * HEAD + 1u], 0u); }
        atomicAdd(&entriesHere, length);
        atomicAdd(&filledHere, 1u);
      }
    }
  }
  workgroupBarrier();
  if (local == 0u && atomicLoad(&filledHere) > 0u) {
    atomicAdd(&control.entries, atomicLoad(&entriesHere));
    atomicAdd(&control.filled, atomicLoad(&filledHere));
  }
}
