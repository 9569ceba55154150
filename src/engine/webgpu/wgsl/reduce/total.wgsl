// The sum of a group, of the states of add-values.wgsl: WORDS + 1 words in two's complement. A fragment.

alias Total = array<u32, WORDS + 1u>;

fn totalOf(group: u32) -> Total {
  let at = group * params.stride;
  var sum: Total;
  for (var k = 0u; k <= WORDS; k++) { sum[k] = states[at + 1u + k]; }
  if (params.form == 0u) { return sum; }
  // every value was larger by half of its range
  let count = states[at];
  let less = count << 31u;
  let borrowed = u32(sum[WORDS - 1u] < less);
  sum[WORDS - 1u] -= less;
  sum[WORDS] -= (count >> 1u) + borrowed;
  return sum;
}
