// The bits of a Bloom filter. A key has one bit in each of the eight words of its block, a sector of 32 bytes. Blocks of
// 256 threads, a quad of keys each; several threads of a warp work on one filter block, so that each look at it and each
// change is one transaction. Warps stay whole to the end.
//
//   filter_contains  a byte per key, 1 where all of its bits are set. Two neighbours load half a block each, eight
//                    blocks in flight. Nothing may write the filter meanwhile. Owns the word of its four flags. Bytes
//                    per key: 4 or 8 and a sector read, 1 written
//   filter_add       sets the bits of keys. Eight neighbours take a word each, eight keys in flight, and change words
//                    that lack their bit. Shares the filter's words, atomically: bits are only set, in any order. Bytes
//                    per key: 4 or 8 and a sector read, and a sector written where a bit is new
#include "keys.cuh"

namespace warpmap::sketches {

constexpr u32 BLOCK_WORDS = 8;
/// In place of the block of a key that is left out.
constexpr u32 NO_BLOCK = 0xffffffffu;

/// The factor that chooses a key's bit in a word of its block.
WARPMAP_DEVICE u32 saltOf(u32 word) {
  const u32 salts[BLOCK_WORDS] = {0x47b6137bu, 0x44974d91u, 0x8824ad5bu, 0xa2b7289du,
                                  0x705495c7u, 0x2df1424bu, 0x9efc4947u, 0x5c6bfb31u};
  return salts[word];
}
WARPMAP_DEVICE u32 bitOf(u32 second, u32 salt) { return 1u << ((second * salt) >> 27); }

/// A quad's places in the filter, of one thread.
template <int K> struct Places {
  u32 blocks[QUAD];
  /// The second words of the hashes, which choose the bits.
  u32 seconds[QUAD];

  template <class Arguments> WARPMAP_DEVICE Places(const Arguments& a, u32 element) {
    Quad<K> quad;
    quad.load(a, element);
    quad.settle(a);
#pragma unroll
    for (u32 k = 0; k < QUAD; k++) {
      const u32 first = quad.first(k);
      blocks[k] = homeSlot(first, a.params.blocks);
      seconds[k] = quad.second(k, first);
    }
  }
};

/// The first element of this thread's quad.
WARPMAP_DEVICE u32 elementOf() { return (blockIdx.x * blockDim.x + threadIdx.x) * QUAD; }

template <int K> WARPMAP_DEVICE void filterContains(const sketches_filter_contains_arguments& a) {
  const u32 element = elementOf(), half = threadIdx.x % 2;
  const Places<K> own(a, element);
  const uint4* const halves = (const uint4*)a.halves.at;
  // of the even neighbour's keys, and of the odd one's
  uint4 loaded[2][QUAD];
  u32 seconds[2][QUAD];
#pragma unroll
  for (u32 k = 0; k < QUAD; k++) {
    const u32 block = __shfl_xor_sync(ALL_LANES, own.blocks[k], 1), second = __shfl_xor_sync(ALL_LANES, own.seconds[k], 1);
    loaded[0][k] = halves[2 * u64(half == 0 ? own.blocks[k] : block) + half];
    loaded[1][k] = halves[2 * u64(half == 0 ? block : own.blocks[k]) + half];
    seconds[0][k] = half == 0 ? own.seconds[k] : second;
    seconds[1][k] = half == 0 ? second : own.seconds[k];
  }
  u32 salts[4];
#pragma unroll
  for (u32 w = 0; w < 4; w++) salts[w] = half == 0 ? saltOf(w) : saltOf(4 + w);
  u32 found[2] = {0, 0};
#pragma unroll
  for (u32 k = 0; k < 2 * QUAD; k++) {
    const uint4 words = loaded[k / QUAD][k % QUAD];
    const u32 second = seconds[k / QUAD][k % QUAD];
    const u32 lacks = (bitOf(second, salts[0]) & ~words.x) | (bitOf(second, salts[1]) & ~words.y) |
                      (bitOf(second, salts[2]) & ~words.z) | (bitOf(second, salts[3]) & ~words.w);
    found[k / QUAD] |= u32(lacks == 0) << (8 * (k % QUAD));
  }
  // what the neighbour saw of this thread's keys
  u32 flags = __shfl_xor_sync(ALL_LANES, half == 0 ? found[1] : found[0], 1) & (half == 0 ? found[0] : found[1]);
  if (element >= a.params.count) return;
#pragma unroll
  for (u32 k = 0; k < QUAD; k++) {
    if (element + k >= a.params.count || !isSelected(a, element + k)) flags &= ~(0xffu << (8 * k));
  }
  __stcs((u32*)a.flags.at + a.params.flagShift + element / QUAD, flags);
}

template <int K> WARPMAP_DEVICE void filterAdd(const sketches_filter_add_arguments& a) {
  const u32 element = elementOf();
  Places<K> own(a, element);
#pragma unroll
  for (u32 k = 0; k < QUAD; k++) {
    if (!isSelected(a, elementAt(a, element + k))) own.blocks[k] = NO_BLOCK;
  }
  const u32 word = threadIdx.x % BLOCK_WORDS, neighbours = rows::laneOf() - word;
  u32 salt = 0;
#pragma unroll
  for (u32 w = 0; w < BLOCK_WORDS; w++) salt = w == word ? saltOf(w) : salt;
  u32* const bits = (u32*)a.bits.at + word;
#pragma unroll
  for (u32 k = 0; k < QUAD; k++) {
    // the keys of the eight neighbours
    u32 blocks[BLOCK_WORDS], wanted[BLOCK_WORDS], seen[BLOCK_WORDS];
#pragma unroll
    for (u32 i = 0; i < BLOCK_WORDS; i++) {
      blocks[i] = __shfl_sync(ALL_LANES, own.blocks[k], neighbours + i);
      wanted[i] = bitOf(__shfl_sync(ALL_LANES, own.seconds[k], neighbours + i), salt);
      if (blocks[i] == NO_BLOCK) blocks[i] = wanted[i] = 0;
      seen[i] = loadRelaxed(bits + u64(blocks[i]) * BLOCK_WORDS);
    }
#pragma unroll
    for (u32 i = 0; i < BLOCK_WORDS; i++) {
      if (wanted[i] & ~seen[i]) atomicOr(bits + u64(blocks[i]) * BLOCK_WORDS, wanted[i]);
    }
  }
}

}  // namespace warpmap::sketches

WARPMAP_SKETCH_KERNELS(filter_contains, filterContains, 256, 4)
WARPMAP_SKETCH_KERNELS(filter_add, filterAdd, 256, 4)
