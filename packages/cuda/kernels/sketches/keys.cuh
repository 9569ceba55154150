// Keys of a sketch and their hashes: the arithmetic of engine/sketch-format.ts, bit for bit. A thread takes quads, four
// neighbouring keys. Keys are read once, and not kept in the caches, which are for the sketch.
#pragma once
#include "../block.cuh"
#include "../sketch-arguments.h"
#include "../warpmap/float_keys.cuh"
#include "../warpmap/hash.cuh"

namespace warpmap::sketches {

/// Keys of a quad.
constexpr u32 QUAD = 4;

template <class Arguments> WARPMAP_DEVICE const u32* keysOf(const Arguments& a) { return (const u32*)a.keys.at + a.params.keyShift; }

/// Keys from the chunk's first on that can be loaded as vectors: whole quads.
template <class Arguments> WARPMAP_DEVICE u32 wholeQuads(const Arguments& a) {
  return u64(keysOf(a)) % 16 == 0 ? a.params.count / QUAD * QUAD : 0;
}

/// An element of the chunk; the last one where there are fewer.
template <class Arguments> WARPMAP_DEVICE u32 elementAt(const Arguments& a, u32 element) { return min(element, a.params.count - 1); }

/// Four keys of K words.
template <int K> struct Quad {
  u32 words[QUAD * K];

  /// Loads the quad that begins at an element, a multiple of 4.
  template <class Arguments> WARPMAP_DEVICE void load(const Arguments& a, u32 element) {
    if (element < wholeQuads(a)) loadVectors(a, element);
    else loadWords(a, element);
  }
  template <class Arguments> WARPMAP_DEVICE void loadVectors(const Arguments& a, u32 element) {
    const uint4* const at = (const uint4*)(keysOf(a) + u64(element) * K);
#pragma unroll
    for (u32 v = 0; v < K; v++) {
      const uint4 four = __ldcs(at + v);
      words[4 * v] = four.x, words[4 * v + 1] = four.y, words[4 * v + 2] = four.z, words[4 * v + 3] = four.w;
    }
  }
  /// Of elements behind the chunk's end it loads the last key.
  template <class Arguments> WARPMAP_DEVICE void loadWords(const Arguments& a, u32 element) {
#pragma unroll
    for (u32 w = 0; w < QUAD * K; w++) words[w] = keysOf(a)[u64(elementAt(a, element + w / K)) * K + w % K];
  }
  /// Gives floats the bits under which they are hashed.
  template <class Arguments> WARPMAP_DEVICE void settle(const Arguments& a) {
    if constexpr (K == 1) {
      if (!a.KEY_F32) return;
#pragma unroll
      for (u32 k = 0; k < QUAD; k++) words[k] = canonicalF32(words[k]);
    }
  }
  WARPMAP_DEVICE u32 hash(u32 k, u32 seed) const {
    return murmur3Words<K>([&](u32 w) { return words[k * K + w]; }, K, seed);
  }
  /// The first word of a key's hash: that of tables.
  WARPMAP_DEVICE u32 first(u32 k) const { return K == 1 ? murmur3(words[k]) : hash(k, 0); }
  /// The second word, from the first.
  WARPMAP_DEVICE u32 second(u32 k, u32 first) const { return hash(k, first); }
};

/// Whether the mask lets an element through.
template <class Arguments> WARPMAP_DEVICE bool isSelected(const Arguments& a, u32 element) {
  return !a.MASKED || a.mask.at[u64(a.params.maskShift) * 4 + element] != 0;
}

}  // namespace warpmap::sketches

/// Defines a kernel for keys of one word and of two: body<K>(a).
#define WARPMAP_SKETCH_KERNELS(name, body, ...)                                                              \
  WARPMAP_KERNEL(sketches_##name##_1, sketches_##name##_arguments, __VA_ARGS__) { warpmap::sketches::body<1>(a); } \
  WARPMAP_KERNEL(sketches_##name##_2, sketches_##name##_arguments, __VA_ARGS__) { warpmap::sketches::body<2>(a); }
