// reach: finds the largest exponent of a key's values, which decides what the bits of their sum stand for. After elect.
// A fragment after each-claim.wgsl and sums.wgsl. Reads the table; shares the words of elected elements, which only go
// up.

fn onClaim(element: u32, word: u32) {
  let elected = electedAt(word);
  var top = topOf(givenValue(element));
  if (elected == element) { top = max(top, topOf(oldValue(element, word))); }
  // many additions to one word are slow: where the top is as high already, none is made
  if (top > atomicLoad(&sums[elected * WORDS + TOP])) { atomicMax(&sums[elected * WORDS + TOP], top); }
}
