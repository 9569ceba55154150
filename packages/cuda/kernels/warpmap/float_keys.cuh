// The bits under which floats in keys are hashed, compared and stored, as engine/float-keys.ts says: −0 is +0, and all
// NaN are one.
#pragma once
#include "platform.cuh"

namespace warpmap {

WARPMAP_DEVICE u32 canonicalF32(u32 bits) {
  if (bits == 0x80000000u) return 0;
  return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : bits;
}

WARPMAP_DEVICE u64 canonicalF64(u64 bits) {
  if (bits == 0x8000000000000000ull) return 0;
  return (bits & 0x7fffffffffffffffull) > 0x7ff0000000000000ull ? 0x7ff8000000000000ull : bits;
}

/// Which words of a key are floats: bit i of `singles` says that word i is an f32, of `doubles` that words i and i + 1
/// are an f64.
struct FloatsInKey {
  u32 singles;
  u32 doubles;
};

WARPMAP_DEVICE u32 canonical(u32 key, FloatsInKey floats) { return floats.singles & 1 ? canonicalF32(key) : key; }

WARPMAP_DEVICE u64 canonical(u64 key, FloatsInKey floats) {
  if (floats.doubles & 1) return canonicalF64(key);
  u32 low = u32(key), high = u32(key >> 32);
  if (floats.singles & 1) low = canonicalF32(low);
  if (floats.singles & 2) high = canonicalF32(high);
  return low | u64(high) << 32;
}

}  // namespace warpmap
