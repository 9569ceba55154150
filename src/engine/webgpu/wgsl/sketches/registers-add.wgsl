// registers add: raises the registers of a chunk's keys.
//
// Grid-stride, eight keys an invocation in flight. A workgroup raises registers of its own first, four bytes a word of
// workgroup memory, and merges them into the shared ones at its end. Where they don't fit (LOCAL false), invocations
// raise the shared ones themselves; few keys do, so most only look. Shares `registers`, atomically: a register only
// grows. Bytes per key: 4 read.

const ITEMS: u32 = 8u;
const REGISTERS: u32 = 1u << PRECISION;
/// Words of workgroup memory: none is used where the registers don't fit.
const OWN_WORDS: u32 = select(1u, REGISTERS / 4u, LOCAL);
/// Compare-exchanges of one key. Each that fails has seen one of the word's four registers raised, or failed for no
/// reason; what is left then goes to the shared register.
const MOST_TRIES: u32 = 256u;

var<workgroup> ownRegisters: array<atomic<u32>, OWN_WORDS>;

fn raiseShared(number: u32, rank: u32) {
  if (atomicLoad(&registers[number]) < rank) { atomicMax(&registers[number], rank); }
}

fn raiseOwn(number: u32, rank: u32) {
  let at = number / 4u;
  let shift = number % 4u * 8u;
  var old = atomicLoad(&ownRegisters[at]);
  for (var tries = 0u; tries < MOST_TRIES; tries++) {
    if (((old >> shift) & 0xffu) >= rank) { return; }
    let raised = (old & ~(0xffu << shift)) | (rank << shift);
    let exchange = atomicCompareExchangeWeak(&ownRegisters[at], old, raised);
    if (exchange.exchanged) { return; }
    old = exchange.old_value;
  }
  raiseShared(number, rank);
}

fn addKey(key: KeyWords) {
  let first = firstHash(key);
  let number = first >> (32u - PRECISION);
  let rest = first << PRECISION;
  var rank = 1u + countLeadingZeros(rest);
  // one key in 2^(32 - PRECISION): others need no second hash
  if (rest == 0u) { rank = 1u + 32u - PRECISION + countLeadingZeros(secondHash(key, first)); }
  if (LOCAL) { raiseOwn(number, rank); } else { raiseShared(number, rank); }
}

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let stride = grid.workgroups.x * grid.workgroups.y * WORKGROUP;
  for (var base = workgroupOf(grid) * WORKGROUP + local; base < params.count; base += stride * ITEMS) {
    var own: array<KeyWords, ITEMS>;
    for (var item = 0u; item < ITEMS; item++) { own[item] = keyAt(base + item * stride); }
    for (var item = 0u; item < ITEMS; item++) {
      if (isChosen(base + item * stride)) { addKey(own[item]); }
    }
  }
  if (!LOCAL) { return; }
  workgroupBarrier();
  for (var number = local; number < REGISTERS; number += WORKGROUP) {
    let rank = (atomicLoad(&ownRegisters[number / 4u]) >> (number % 4u * 8u)) & 0xffu;
    if (rank > 0u) { raiseShared(number, rank); }
  }
}
