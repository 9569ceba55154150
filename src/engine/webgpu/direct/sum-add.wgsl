// add: adds every value to its key's sum, and the slot's own; forgets the slots of elements that were not elected.
// After reach. A fragment after each-claim.wgsl and sums.wgsl. Reads the table; shares the words of elected elements;
// owns its elements' notes.

fn onClaim(element: u32, word: u32) {
  let elected = electedAt(word);
  addTo(elected, givenValue(element));
  if (elected == element) { addTo(elected, oldValue(element, word)); } else { claims[element] = 0u; }
}
