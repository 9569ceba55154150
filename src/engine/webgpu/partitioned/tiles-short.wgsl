// In place of tiles-long.wgsl on software GPUs, whose compilers take seconds for what the loops over items unroll to. A fragment.
const ITEMS: u32 = 2u;
const ROUNDS: u32 = 1u;
