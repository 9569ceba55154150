// A workgroup's own states of the groups that it meets, so that a group with many rows is merged once a workgroup and
// not once a row. A fragment, with the entry point, for modules with an Entry (a row of a group), load, take and merge;
// with one of numbered-rows.wgsl, keyed-rows.wgsl and listed-rows.wgsl, which say what group a row has; and with
// known-groups.wgsl or claim-slot.wgsl, which have ended, isFutile (what the kernel does is to no purpose already) and
// replicaBits.
//
// A group is known by a word, its identity. A slot's index and what it holds make up the identity, so comparing one
// word finds a group. Of the groups that want one slot, those that come first have it for as long as the workgroup
// runs; rows of the others go to the states of all. So does a row whose compare-exchange fails spuriously: no waiting.
// With few groups each has several slots (2^replicas), and neighbouring invocations add to different ones.

/// STEPS slots are those that a group may have, its home and those behind it; at most 2^STEP_BITS.
const STEP_BITS: u32 = 3u;
/// The slot of the rows whose key is null, in place of none at all, and no slot.
const NULLS: u32 = CACHE;
const NO_SLOT: u32 = CACHE + 1u;
/// Rows that an invocation loads at once; params.items is a multiple.
const BATCH: u32 = 4u;

/// Per slot: what of an identity its index does not tell, the steps from its home, and 1; or 0.
var<workgroup> holders: array<atomic<u32>, CACHE + 1u>;
/// Not 0: what the kernel does is to no purpose.
var<workgroup> stopped: atomic<u32>;
/// The logarithm of the slots that a group has, and which of them is this invocation's.
var<private> replicas: u32;
var<private> replica: u32;

fn homeBits() -> u32 { return CACHE_BITS - replicas; }

/// The slot of a group; NO_SLOT when others have those that it may have.
fn slotOf(identity: u32) -> u32 {
  let bits = homeBits();
  let mask = (1u << bits) - 1u;
  let upper = (identity >> bits) << STEP_BITS;
  for (var step = 0u; step < STEPS; step++) {
    let slot = (((identity + step) & mask) << replicas) | replica;
    let wanted = (upper | step) + 1u;
    var holder = atomicLoad(&holders[slot]);
    if (holder == 0u) {
      let claim = atomicCompareExchangeWeak(&holders[slot], 0u, wanted);
      holder = select(claim.old_value, wanted, claim.exchanged);
    }
    if (holder == wanted) { return slot; }
  }
  return NO_SLOT;
}

/// The identity of the group that has a slot.
fn identityIn(slot: u32, holder: u32) -> u32 {
  let bits = homeBits();
  let mask = (1u << bits) - 1u;
  let told = holder - 1u;
  let home = ((slot >> replicas) - (told & ((1u << STEP_BITS) - 1u))) & mask;
  return ((told >> STEP_BITS) << bits) | home;
}

/// The slot of an entry's group.
fn slotFor(key: RowKey) -> u32 {
  if (!key.isNull) { return slotOf(key.identity); }
  atomicStore(&holders[NULLS], 1u);
  return NULLS;
}

/// The number of an entry's group.
fn groupFor(key: RowKey) -> u32 {
  if (key.isNull) { return params.slots; }
  return groupOfIdentity(key.identity);
}

@compute @workgroup_size(INVOCATIONS)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  replicas = replicaBits();
  replica = local & ((1u << replicas) - 1u);
  let start = workgroupOf(grid) * INVOCATIONS * params.items + local;
  if (local == 0u && isFutile()) { atomicStore(&stopped, 1u); }
  workgroupBarrier();
  for (var i = 0u; i < params.items; i += BATCH) {
    let at = start + i * INVOCATIONS;
    if (at >= params.count || atomicLoad(&stopped) != 0u) { break; }
    // loaded together
    let elements = vec4u(at, at + INVOCATIONS, at + 2u * INVOCATIONS, at + 3u * INVOCATIONS);
    let within = params.first + min(elements, vec4u(params.count - 1u));
    let a = load(within.x);
    let b = load(within.y);
    let c = load(within.z);
    let d = load(within.w);
    // as many as BATCH, which compilers do not see: a copy for each would take them several times as long
    for (var k = 0u; k < min(BATCH, params.items); k++) {
      var entry = a;
      if (k == 1u) { entry = b; } else if (k == 2u) { entry = c; } else if (k == 3u) { entry = d; }
      if (entry.isTaken && elements[k] < params.count) { take(entry); }
    }
  }
  workgroupBarrier();
  for (var slot = local; slot <= CACHE; slot += INVOCATIONS) {
    let holder = atomicLoad(&holders[slot]);
    if (holder == 0u) { continue; }
    if (slot == NULLS) { merge(slot, params.slots); } else { merge(slot, groupOfIdentity(identityIn(slot, holder))); }
  }
  ended(local);
}
