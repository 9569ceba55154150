// Which of several GPUs owns a key.
#pragma once
#include "warpmap/hash.cuh"

namespace warpmap {

/// Murmur3's step, of a key's words one after another.
WARPMAP_DEVICE u32 ownerStep(u32 h, u32 word) { return rotateLeft(h ^ rotateLeft(word * 0xcc9e2d51u, 15) * 0x1b873593u, 13) * 5 + 0xe6546b64u; }

/// The owner by the top digit of the finished hash. It is none of a table's own hashes: those of one owner's keys differ
/// in all their bits.
WARPMAP_DEVICE u32 ownerOf(u32 hash, u32 owners) { return u32(u64(murmur3(hash)) * owners >> 32); }

}  // namespace warpmap
