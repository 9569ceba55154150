// In place of places.wgsl and note-places.wgsl, where nothing is to come back. A fragment after tile.wgsl.
fn forgetRuns() {}

fn noteRuns(tile: u32, local: u32) {}

fn notePlaces(tile: u32, local: u32, rank: ptr<function, array<u32, ITEMS>>) {}
