// Going over the elements of a batch that have noted slots in `claims`: an entry point that calls onClaim(element,
// word) for each; `word` is where the slot begins in the binding. Four elements an invocation, 256 invocations a
// workgroup. A fragment after batch.wgsl.

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let thread = invocation(grid, local);
  for (var item = 0u; item < ITEMS; item++) {
    let element = elementAt(thread, item);
    if (element == NO_ELEMENT) { continue; }
    let claim = claims[element];
    if (claim == 0u || !isBound(claim - 1u)) { continue; }
    onClaim(element, boundSlot(claim - 1u) * SLOT_WORDS);
  }
}
