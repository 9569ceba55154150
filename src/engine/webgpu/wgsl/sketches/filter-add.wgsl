// filter add: sets the bits of a chunk's keys.
//
// Four keys an invocation, 256 invocations a workgroup. Invocations hash keys of their own first; then eight neighbours
// take each key together, a word of its block each, so that the eight atomics are one 32-byte transaction. Shares the
// filter's words, atomically: bits are only set, in any order. Bytes per key: 4 read, one sector of 32 read and written
// back.

const ITEMS: u32 = 4u;
const TILE: u32 = WORKGROUP * ITEMS;
/// In place of the block of a key that is left out.
const NO_BLOCK: u32 = 0xffffffffu;

var<workgroup> homes: array<u32, TILE>;
var<workgroup> patterns: array<u32, TILE>;

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let tile = workgroupOf(grid) * TILE;
  var own: array<KeyWords, ITEMS>;
  for (var item = 0u; item < ITEMS; item++) { own[item] = keyAt(tile + item * WORKGROUP + local); }
  for (var item = 0u; item < ITEMS; item++) {
    let at = item * WORKGROUP + local;
    let first = firstHash(own[item]);
    homes[at] = select(NO_BLOCK, multiplyHigh(first, params.blocks), isChosen(tile + at));
    patterns[at] = secondHash(own[item], first);
  }
  workgroupBarrier();
  let word = local % BLOCK_WORDS;
  let salt = SALTS[word];
  for (var at = local / BLOCK_WORDS; at < TILE; at += WORKGROUP / BLOCK_WORDS) {
    let home = homes[at];
    if (home == NO_BLOCK) { continue; }
    atomicOr(&bits[home * BLOCK_WORDS + word], 1u << ((patterns[at] * salt) >> 27u));
  }
}
