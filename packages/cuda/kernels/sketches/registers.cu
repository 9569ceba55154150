// registers_add: raises the registers of a HyperLogLog, a word each, by a chunk's keys.
//
// Blocks of up to 1,024 threads that go on to the end of the chunk; a thread has 64 bytes of keys on their way. A block
// has registers of its own in shared memory, which begin as those of all and are merged into them at the end; where the
// memory does not suffice (LOCAL 0), threads raise those of all. A look comes first, as few keys raise anything. Shares
// `registers`, atomically: a register only grows. Bytes per key: 4 or 8 read; per block the registers are read twice,
// and written where they rose.
#include "keys.cuh"

namespace warpmap::sketches {

/// The rank by the first word of a hash that has no 1 behind the register's number.
constexpr u32 NOT_IN_FIRST = 33;

/// Of each key of a quad its register, and what it raises it to: 0 for a key that is left out.
struct Ranks {
  u32 numbers[QUAD];
  u32 ranks[QUAD];

  template <int K> WARPMAP_DEVICE Ranks(const sketches_registers_add_arguments& a, Quad<K>& quad, u32 element) {
    const u32 precision = a.PRECISION;
    quad.settle(a);
    bool needsSecond = false;
#pragma unroll
    for (u32 k = 0; k < QUAD; k++) {
      const u32 first = quad.first(k);
      numbers[k] = first >> (32 - precision);
      ranks[k] = 1 + __clz(int(first << precision));
      needsSecond |= ranks[k] == NOT_IN_FIRST;
    }
    // one key in 2^(32 - precision); the first word then has the register's number alone
    if (needsSecond) {
#pragma unroll
      for (u32 k = 0; k < QUAD; k++) {
        const u32 second = quad.second(k, numbers[k] << (32 - precision));
        if (ranks[k] == NOT_IN_FIRST) ranks[k] = 1 + 32 - precision + __clz(int(second));
      }
    }
    if (!a.MASKED) return;
#pragma unroll
    for (u32 k = 0; k < QUAD; k++) {
      if (!isSelected(a, elementAt(a, element + k))) ranks[k] = 0;
    }
  }
  WARPMAP_DEVICE void raise(u32* registers) const {
    u32 seen[QUAD];
#pragma unroll
    for (u32 k = 0; k < QUAD; k++) seen[k] = *(volatile u32*)(registers + numbers[k]);
#pragma unroll
    for (u32 k = 0; k < QUAD; k++) {
      if (seen[k] < ranks[k]) atomicMax(registers + numbers[k], ranks[k]);
    }
  }
};

/// Raises registers by the keys of this thread. Where the chunk has no more quads, it takes the last one again: a key
/// that comes twice changes nothing.
template <int K> WARPMAP_DEVICE void addKeys(const sketches_registers_add_arguments& a, u32* registers) {
  constexpr u32 QUADS = 4 / K;
  const u32 first = (blockIdx.x * blockDim.x + threadIdx.x) * QUAD, stride = gridDim.x * blockDim.x * QUAD;
  if (first < wholeQuads(a)) {
    const u32 last = wholeQuads(a) - QUAD;
    Quad<K> quads[QUADS];
#pragma unroll
    for (u32 q = 0; q < QUADS; q++) quads[q].loadVectors(a, min(first + q * stride, last));
    for (u32 element = first; element <= last;) {
#pragma unroll
      for (u32 q = 0; q < QUADS; q++) {
        const Ranks ranks(a, quads[q], min(element, last));
        quads[q].loadVectors(a, min(element + QUADS * stride, last));
        ranks.raise(registers);
        element += stride;
      }
    }
  }
  for (u32 element = wholeQuads(a) + first; element < a.params.count; element += stride) {
    Quad<K> quad;
    quad.loadWords(a, element);
    Ranks(a, quad, element).raise(registers);
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

WARPMAP_SKETCH_KERNELS(registers_add, registersAdd, 1024)
