// The table of the groups of keys of one word: a group's number is its slot, that of nulls is the number of slots. A
// fragment.
//
// An identity is a mixed key, turned so that its lowest bits are its home slot: both can be undone, so different keys
// have different identities. A slot holds the upper bits of an identity, its steps from home, and 1, which with the
// slot's index make up the identity as well; or 0. Keys that are neighbours by their mixed bits have neighbouring
// slots.

/// What group a row is of.
struct RowKey { isNull: bool, identity: u32 }

fn identityOf(key: u32) -> u32 {
  let mixed = keyedHash(key);
  return (mixed << params.slotBits) | (mixed >> (32u - params.slotBits));
}

fn slotAfterHome(identity: u32, step: u32) -> u32 { return (identity + step) & (params.slots - 1u); }

/// What a slot of a group holds; step < slots / 2.
fn heldBy(identity: u32, step: u32) -> u32 {
  return (((identity >> params.slotBits) << (params.slotBits - 1u)) | step) + 1u;
}
