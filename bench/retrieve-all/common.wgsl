// What all variants of retrieve-all share: the bindings, and which slots hold an entry. A header in front of it has the
// constants WORKGROUP, invocations of a workgroup, and ITEMS, loads of an invocation.
//
// A load takes two slots (16 bytes), and a workgroup a tile of 2 * WORKGROUP * ITEMS neighbouring slots: load `item` of
// invocation `local` is pair `item * WORKGROUP + local` of the tile, so loads are coalesced. Nothing writes the table meanwhile.
// Bytes: 8 read per slot, 8 written per entry, in every variant; they differ in how entries get their places.

/// Slots first to first + count (even) of the table are bound; `slots` is where the side slots begin.
struct Range {
  first: u32,
  count: u32,
  slots: u32,
}

@group(0) @binding(0) var<uniform> range: Range;
@group(0) @binding(1) var<storage, read> table: array<vec4u>;
@group(0) @binding(2) var<storage, read_write> total: atomic<u32>;
@group(0) @binding(3) var<storage, read_write> outKeys: array<u32>;
@group(0) @binding(4) var<storage, read_write> outValues: array<u32>;

const EMPTY: u32 = 0xffffffffu;
const TOMBSTONE: u32 = 0xfffffffeu;
const SIDE_PRESENT: u32 = 0u;
const TILE: u32 = 2u * WORKGROUP * ITEMS;

/// Two slots; behind the range, two empty ones.
fn loadPair(pair: u32) -> vec4u {
  if (pair < range.count / 2u) { return table[pair]; }
  return vec4u(EMPTY);
}

/// True for a slot with an entry. Side slots lie behind the table and hold SIDE_PRESENT.
fn isLive(slot: u32, word: u32) -> bool {
  if (range.first + slot >= range.slots) { return word == SIDE_PRESENT; }
  return word < TOMBSTONE;
}

fn keyOf(slot: u32, word: u32) -> u32 {
  let index = range.first + slot;
  return select(word, EMPTY - (index - range.slots), index >= range.slots);
}

/// Entries of the pair number `pair`.
fn liveOf(pair: u32, slots: vec4u) -> u32 {
  return u32(isLive(2u * pair, slots.x)) + u32(isLive(2u * pair + 1u, slots.z));
}

fn write(place: u32, slot: u32, word: u32, value: u32) {
  outKeys[place] = keyOf(slot, word);
  outValues[place] = value;
}
