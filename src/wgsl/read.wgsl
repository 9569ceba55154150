// A table that users' kernels only read: nothing may write it in the same dispatch. A fragment of find.wgsl after
// reading (slot-code.ts).

/// Slots of the table, from the size of its binding.
fn slotCount() -> u32 { return arrayLength(&table) - SIDE_SLOTS; }

fn longestProbe() -> u32 { return control[MAX_PROBE_WORD]; }

fn hashSeed() -> u32 { return control[SEED_WORD]; }

fn foundAt(at: u32, look: Look, bits: Key) -> Found { return foundIn(look, bits); }
