// combine_sketches: a sketch takes in another one of its shape, word by word, by HOW of gpu/sketches/sketch-kernels.ts:
// or, and, max. Blocks of 256, grid-stride. Owns its words. 8 bytes read and 4 written per word.
#include "keys.cuh"

namespace warpmap::sketches {

WARPMAP_DEVICE u32 combined(u32 how, u32 a, u32 b) { return how == 0 ? a | b : how == 1 ? a & b : max(a, b); }

}  // namespace warpmap::sketches

WARPMAP_KERNEL(sketches_combine_sketches, sketches_combine_sketches_arguments, 256) {
  using warpmap::sketches::combined;
  const auto stride = warpmap::u64(gridDim.x) * blockDim.x;
  for (auto i = warpmap::u64(blockIdx.x) * blockDim.x + threadIdx.x; i < a.into.bytes / 16; i += stride) {
    uint4& to = ((uint4*)a.into.at)[i];
    const uint4 from = ((const uint4*)a.other.at)[i];
    to = {combined(a.HOW, to.x, from.x), combined(a.HOW, to.y, from.y), combined(a.HOW, to.z, from.z),
          combined(a.HOW, to.w, from.w)};
  }
}
