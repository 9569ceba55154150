// Sums of doubles in the making: of the elements of a key one is elected, and the words `sums` has for it hold the sum.
// A fragment after doubles.wgsl, for kernels over a batch's values and a table.
//
// Five dispatches in one submission: save, elect, reach, add, store. In between the low word of a value is the number
// of the elected element, so nobody sees it. An element has these words: the low word of its key's value, the top of
// the sum, the sum. All but the first are 0 before save, and after store.

const OLD_LOW: u32 = 0u;
const TOP: u32 = 1u;
const SUM: u32 = 2u;
const WORDS: u32 = SUM + SUM_WORDS;

/// What the first word of a sum without a number says.
const POSITIVE_INFINITY: u32 = 1u;
const NEGATIVE_INFINITY: u32 = 2u;
const HAS_NAN: u32 = 4u;

fn givenValue(element: u32) -> vec2u {
  let at = params.valueShift + element * 2u;
  return vec2u(values[at], values[at + 1u]);
}

/// The element that is elected for a slot.
fn electedAt(word: u32) -> u32 { return atomicLoad(&table[word + VALUE_OFFSET]); }

/// The value that a slot had before.
fn oldValue(element: u32, word: u32) -> vec2u {
  return vec2u(atomicLoad(&sums[element * WORDS + OLD_LOW]), atomicLoad(&table[word + VALUE_OFFSET + 1u]));
}

/// Says of what an infinity or a NaN makes a sum.
fn markOf(double: vec2u) -> u32 {
  if ((double.y & 0xfffffu) != 0u || double.x != 0u) { return HAS_NAN; }
  return select(POSITIVE_INFINITY, NEGATIVE_INFINITY, isNegative(double));
}

fn addTo(elected: u32, double: vec2u) {
  let at = elected * WORDS;
  let top = atomicLoad(&sums[at + TOP]);
  if (top == NO_NUMBER) {
    if (topOf(double) == NO_NUMBER) { atomicOr(&sums[at + SUM], markOf(double)); }
    return;
  }
  let part = partOf(double, top);
  let negative = isNegative(double);
  // whoever makes a word wrap changes the next one: every wrap has one cause, so the sum is exact in any order
  var carry = 0u;
  for (var i = part.first; i < SUM_WORDS; i++) {
    let own = i - part.first;
    if (own > 2u && carry == 0u) { return; }
    let word = select(0u, part.words[min(own, 2u)], own < 3u);
    let amount = word + carry;
    carry = u32(amount < word);
    if (amount == 0u) { continue; }
    if (negative) {
      carry += u32(atomicSub(&sums[at + SUM + i], amount) < amount);
    } else {
      carry += u32(atomicAdd(&sums[at + SUM + i], amount) > ~amount);
    }
  }
}

/// The double that a sum comes to.
fn sumOf(elected: u32) -> vec2u {
  let at = elected * WORDS;
  let top = atomicLoad(&sums[at + TOP]);
  var words: Sum;
  for (var i = 0u; i < SUM_WORDS; i++) { words[i] = atomicLoad(&sums[at + SUM + i]); }
  if (top < NO_NUMBER) { return rounded(words, top); }
  if (words[0] == POSITIVE_INFINITY) { return vec2u(0u, 0x7ff00000u); }
  if (words[0] == NEGATIVE_INFINITY) { return vec2u(0u, 0xfff00000u); }
  return NAN;
}
