// Claiming a slot by the number of the batch's row: settle.wgsl writes key and value in the next dispatch, by what is
// noted here. A fragment of insert.wgsl.

fn claimOf(probe: Probe, element: u32) -> u32 { return element; }

fn noteClaim(element: u32, word: u32, probe: Probe) { claims[element] = probe.slot + 1u; }

/// Values of such tables are assigned by kernels of their own: assign-elect.wgsl, assign-confirm.wgsl and
/// assign-store.wgsl.
fn storeValue(word: u32, element: u32) {}
