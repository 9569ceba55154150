// Loads, stores and exchanges of words that other threads change meanwhile. `relaxed` orders nothing, `acquire` and
// `release` order the slot's other words. Scope: the GPU.
#pragma once
#include "platform.cuh"

namespace warpmap {

#if defined(__CUDACC__)

WARPMAP_DEVICE u32 loadRelaxed(const u32* at) {
  u32 word;
  asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
  return word;
}
WARPMAP_DEVICE u64 loadRelaxed(const u64* at) {
  u64 word;
  asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
  return word;
}
WARPMAP_DEVICE u32 loadAcquire(const u32* at) {
  u32 word;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
  return word;
}
WARPMAP_DEVICE u64 loadAcquire(const u64* at) {
  u64 word;
  asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
  return word;
}
WARPMAP_DEVICE void storeRelaxed(u32* at, u32 word) {
  asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(at), "r"(word) : "memory");
}
WARPMAP_DEVICE void storeRelaxed(u64* at, u64 word) {
  asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
}
WARPMAP_DEVICE void storeRelease(u32* at, u32 word) {
  asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(at), "r"(word) : "memory");
}
WARPMAP_DEVICE void storeRelease(u64* at, u64 word) {
  asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
}
/// What the word held at some time since the kernel began: out of L1, so that many may ask.
WARPMAP_DEVICE u32 loadThroughL1(const u32* at) {
  u32 word;
  asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(word) : "l"(at));
  return word;
}
/// Brings a line of 128 bytes into L2.
WARPMAP_DEVICE void prefetchLine(const void* at) { asm volatile("prefetch.global.L2 [%0];" ::"l"(at)); }
/// Begins to copy 4, 8 or 16 bytes into shared memory. awaitCopies() waits for those that this thread began.
template <u32 BYTES> WARPMAP_DEVICE void copyToShared(void* shared, const void* from) {
  const u32 to = u32(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(BYTES) : "memory");
}
WARPMAP_DEVICE void awaitCopies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
/// Lets the thread that is waited for run.
WARPMAP_DEVICE void waitABit() { __nanosleep(32); }

#else

template <class T> T loadRelaxed(const T* at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }
template <class T> T loadAcquire(const T* at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }
template <class T> void storeRelaxed(T* at, T word) { __atomic_store_n(at, word, __ATOMIC_RELAXED); }
inline u32 loadThroughL1(const u32* at) { return loadRelaxed(at); }
inline void prefetchLine(const void*) {}
template <uint32_t BYTES> void copyToShared(void* shared, const void* from) { std::memcpy(shared, from, BYTES); }
inline void awaitCopies() {}
template <class T> void storeRelease(T* at, T word) { __atomic_store_n(at, word, __ATOMIC_RELEASE); }

#endif

/// Stores `wanted` where `expected` is. Answers what was there: `expected` when it stored.
template <class T> WARPMAP_DEVICE T compareExchange(T* at, T expected, T wanted) {
  return atomicCAS(at, expected, wanted);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define WARPMAP_HAS_WIDE_EXCHANGE 1

/// Stores two words at a multiple of 16 bytes where the two that are expected are. Answers what was in the first.
WARPMAP_DEVICE bool compareExchangePair(u64* at, u64 expected0, u64 expected1, u64 wanted0, u64 wanted1, u64& old0) {
  u64 old1;
  asm volatile(
      "{\n"
      ".reg .b128 expected, wanted, old;\n"
      "mov.b128 expected, {%2, %3};\n"
      "mov.b128 wanted, {%4, %5};\n"
      "atom.relaxed.gpu.global.cas.b128 old, [%6], expected, wanted;\n"
      "mov.b128 {%0, %1}, old;\n"
      "}"
      : "=l"(old0), "=l"(old1)
      : "l"(expected0), "l"(expected1), "l"(wanted0), "l"(wanted1), "l"(at)
      : "memory");
  return old0 == expected0 && old1 == expected1;
}
#endif

}  // namespace warpmap
