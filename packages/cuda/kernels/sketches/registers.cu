// registers_add: raises the registers of a HyperLogLog, a word each, by a chunk's keys.
//
// Blocks of up to 1,024 threads that go on to the end of the chunk. A thread has a vector of keys or two in hand and as
// many on the way. A block has registers of its own in shared memory, which begin as those of all and are merged into
// them at the end; precisions for which there is too little memory (LOCAL 0) raise those of all. A look comes first, as
// few keys raise anything. Shares `registers`, atomically: a register only grows. Bytes per key: 4 or 8 read; per block
// the registers are read twice, and written where they rose.
#include "keys.cuh"

namespace warpmap::sketches {

/// Raises registers by a quad of keys.
template <int K> WARPMAP_DEVICE void addQuad(const sketches_registers_add_arguments& a, Quad<K>& quad, u32 element, u32* registers) {
  const u32 precision = a.PRECISION;
  quad.settle(a);
  u32 numbers[QUAD], ranks[QUAD], seen[QUAD];
  bool needsSecond = false;
#pragma unroll
  for (u32 k = 0; k < QUAD; k++) {
    const u32 first = quad.first(k), rest = first << precision;
    numbers[k] = first >> (32 - precision);
    ranks[k] = 1 + __clz(int(rest));
    needsSecond |= rest == 0;
  }
  // one key in 2^(32 - precision)
  if (needsSecond) {
#pragma unroll
    for (u32 k = 0; k < QUAD; k++) {
      const u32 first = quad.first(k);
      if (first << precision == 0) ranks[k] = 1 + 32 - precision + __clz(int(quad.second(k, first)));
    }
  }
  if (a.MASKED || element + QUAD > a.params.count) {
#pragma unroll
    for (u32 k = 0; k < QUAD; k++) {
      if (!isChosen(a, element + k)) ranks[k] = 0;
    }
  }
#pragma unroll
  for (u32 k = 0; k < QUAD; k++) seen[k] = *(volatile u32*)(registers + numbers[k]);
#pragma unroll
  for (u32 k = 0; k < QUAD; k++) {
    if (seen[k] < ranks[k]) atomicMax(registers + numbers[k], ranks[k]);
  }
}

/// Raises registers by the keys of this thread.
template <int K> WARPMAP_DEVICE void addKeys(const sketches_registers_add_arguments& a, u32* registers) {
  constexpr u32 QUADS = 2 / K;
  const u32 stride = gridDim.x * blockDim.x * QUAD;
  u32 element = (blockIdx.x * blockDim.x + threadIdx.x) * QUAD;
  Quad<K> next[QUADS];
#pragma unroll
  for (u32 q = 0; q < QUADS; q++) next[q].load(a, element + q * stride);
  for (; element < a.params.count; element += QUADS * stride) {
#pragma unroll
    for (u32 q = 0; q < QUADS; q++) {
      Quad<K> quad = next[q];
      next[q].load(a, element + (QUADS + q) * stride);
      addQuad(a, quad, element + q * stride, registers);
    }
  }
}

template <int K> WARPMAP_DEVICE void registersAdd(const sketches_registers_add_arguments& a) {
  u32* const all = (u32*)a.registers.at;
  if (!a.LOCAL) return addKeys<K>(a, all);
  WARPMAP_DYNAMIC_SHARED(memory);
  const u32 vectors = (1u << a.PRECISION) / 4;
#pragma unroll 4
  for (u32 v = threadIdx.x; v < vectors; v += blockDim.x) ((uint4*)memory)[v] = __ldcg((const uint4*)all + v);
  __syncthreads();
  addKeys<K>(a, (u32*)memory);
  __syncthreads();
#pragma unroll 4
  for (u32 v = threadIdx.x; v < vectors; v += blockDim.x) {
    const uint4 own = ((const uint4*)memory)[v], seen = __ldcg((const uint4*)all + v);
    if (own.x > seen.x) atomicMax(all + 4 * v, own.x);
    if (own.y > seen.y) atomicMax(all + 4 * v + 1, own.y);
    if (own.z > seen.z) atomicMax(all + 4 * v + 2, own.z);
    if (own.w > seen.w) atomicMax(all + 4 * v + 3, own.w);
  }
}

}  // namespace warpmap::sketches

WARPMAP_SKETCH_KERNELS(registers_add, registersAdd, 1024, 2)
