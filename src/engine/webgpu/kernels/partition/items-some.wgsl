// As items-many.wgsl, for kernels whose items take more registers. A fragment.
const ITEMS: u32 = 4u;
