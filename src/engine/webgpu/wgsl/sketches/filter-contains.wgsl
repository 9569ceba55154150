// filter contains: a byte per key, 1 where all of its bits are set.
//
// Four neighbouring keys an invocation, 256 invocations a workgroup. Reads the filter; nothing may write it in the same
// dispatch. Owns the word of its four flags. A key's block comes in two loads of 16 bytes, and those of all four keys
// are under way together. Bytes per key: 4 read, one sector of 32 read, 1 written.

const ITEMS: u32 = 4u;

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let quad = workgroupOf(grid) * WORKGROUP + local;
  let element = quad * ITEMS;
  if (element >= params.count) { return; }
  var own: array<KeyWords, ITEMS>;
  var patterns: array<u32, ITEMS>;
  var lower: array<vec4u, ITEMS>;
  var upper: array<vec4u, ITEMS>;
  for (var item = 0u; item < ITEMS; item++) { own[item] = keyAt(element + item); }
  for (var item = 0u; item < ITEMS; item++) {
    let first = firstHash(own[item]);
    let block = multiplyHigh(first, params.blocks);
    lower[item] = halves[2u * block];
    upper[item] = halves[2u * block + 1u];
    patterns[item] = secondHash(own[item], first);
  }
  var found = 0u;
  for (var item = 0u; item < ITEMS; item++) {
    let low = vec4u(1u) << ((patterns[item] * vec4u(SALTS[0], SALTS[1], SALTS[2], SALTS[3])) >> vec4u(27u));
    let high = vec4u(1u) << ((patterns[item] * vec4u(SALTS[4], SALTS[5], SALTS[6], SALTS[7])) >> vec4u(27u));
    let held = all((lower[item] & low) == low) && all((upper[item] & high) == high);
    found |= select(0u, 1u << (8u * item), held && isChosen(element + item));
  }
  flags[params.flagShift + quad] = found;
}
