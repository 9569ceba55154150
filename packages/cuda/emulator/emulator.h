// What CUDA C++ has and g++ lacks, for kernels that run on the CPU: the threads of a block are fibers of one OS thread,
// which switch at barriers and warp operations alone; blocks run on several OS threads at once, so that races are real.
// Warp operations take full warps (mask ALL_LANES), as all kernels here do.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

namespace emulator {

struct Dimensions {
  unsigned x = 1, y = 1, z = 1;
};
/// A variable of each OS thread that takes no call to find. A process has room for few bytes of them.
#define WARPMAP_NEAR __thread
/// Of the thread that runs now.
extern WARPMAP_NEAR Dimensions thread, block, blocks, threads;
extern WARPMAP_NEAR unsigned char* dynamicShared;

/// Waits until all threads of the block that have not ended are here.
void barrier();
/// Waits until all lanes of the warp are here; answers what each of them brought.
const uint64_t* exchange(uint64_t mine);
/// Lets other OS threads run.
void pause();

unsigned lane();

template <class... A, size_t... I>
inline void callWith(void (*kernel)(A...), void* const* parameters, std::index_sequence<I...>) {
  kernel(*static_cast<A*>(parameters[I])...);
}
/// Calls a kernel with parameters as a launch has them: the address of each.
template <class... A> inline void callWith(void (*kernel)(A...), void* const* parameters) {
  callWith(kernel, parameters, std::index_sequence_for<A...>());
}

}  // namespace emulator

#define WARPMAP_DEVICE inline
#define WARPMAP_DEVICE_CALL inline
#define WARPMAP_KERNEL(name, Arguments, ...)                            \
  static void name##_body(const Arguments& a);                          \
  extern "C" void warpmap_kernel_##name(void* const* parameters) {      \
    name##_body(*static_cast<const Arguments*>(parameters[0]));         \
  }                                                                     \
  static void name##_body(const Arguments& a)
/// Has the driver find a kernel that is written as plain CUDA C++, behind its definition.
#define WARPMAP_EMULATED(name) \
  extern "C" void warpmap_kernel_##name(void* const* parameters) { emulator::callWith(name, parameters); }
#define __global__
#define __device__
#define WARPMAP_DYNAMIC_SHARED(name) unsigned char* const name = emulator::dynamicShared
#define __shared__ static thread_local
#define __align__(bytes) __attribute__((aligned(bytes)))

#define threadIdx emulator::thread
#define blockIdx emulator::block
#define gridDim emulator::blocks
#define blockDim emulator::threads

struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(16) ulonglong2 {
  unsigned long long x, y;
};

inline void __syncthreads() { emulator::barrier(); }
inline int __syncthreads_or(int isSet) {
  static thread_local int any;
  emulator::barrier();
  any = 0;
  emulator::barrier();
  any |= isSet != 0;
  emulator::barrier();
  return any;
}
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() {}

// ---- loads and stores that say which caches keep the line
template <class T> inline T __ldcg(const T* at) { return *at; }
template <class T> inline T __ldcs(const T* at) { return *at; }
template <class T> inline void __stcs(T* at, T value) { *at = value; }

// ---- bits and numbers
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(unsigned(x)); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
  return unsigned(((uint64_t)high << 32 | low) >> (by % 32));
}
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((uint64_t(a) * b) >> 32); }
template <class To, class From> inline To bitsAs(From from) {
  To to;
  static_assert(sizeof to == sizeof from, "bits of another size");
  std::memcpy(&to, &from, sizeof to);
  return to;
}
inline float __uint_as_float(unsigned bits) { return bitsAs<float>(bits); }
inline unsigned __float_as_uint(float x) { return bitsAs<unsigned>(x); }
inline double __longlong_as_double(long long bits) { return bitsAs<double>(bits); }
inline long long __double_as_longlong(double x) { return bitsAs<long long>(x); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline double __dadd_rn(double a, double b) { return a + b; }
template <class T> inline T min(T a, T b) { return b < a ? b : a; }
template <class T> inline T max(T a, T b) { return a < b ? b : a; }

// ---- atomics, relaxed as CUDA's
template <class T> inline T atomicCAS(T* at, T expected, T wanted) {
  __atomic_compare_exchange_n(at, &expected, wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
template <class T, class U> inline T atomicAdd(T* at, U value) { return __atomic_fetch_add(at, T(value), __ATOMIC_RELAXED); }
template <class T, class U> inline T atomicSub(T* at, U value) { return __atomic_fetch_sub(at, T(value), __ATOMIC_RELAXED); }
template <class T, class U> inline T atomicAnd(T* at, U value) { return __atomic_fetch_and(at, T(value), __ATOMIC_RELAXED); }
template <class T, class U> inline T atomicOr(T* at, U value) { return __atomic_fetch_or(at, T(value), __ATOMIC_RELAXED); }
template <class T, class U> inline T atomicXor(T* at, U value) { return __atomic_fetch_xor(at, T(value), __ATOMIC_RELAXED); }
template <class T, class U> inline T atomicExch(T* at, U value) { return __atomic_exchange_n(at, T(value), __ATOMIC_RELAXED); }
template <class T, class F> inline T atomicChange(T* at, const F& change) {
  T seen = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(at, &seen, change(seen), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return seen;
}
template <class T, class U> inline T atomicMin(T* at, U value) {
  return atomicChange(at, [&](T seen) { return std::min(seen, T(value)); });
}
template <class T, class U> inline T atomicMax(T* at, U value) {
  return atomicChange(at, [&](T seen) { return std::max(seen, T(value)); });
}
template <class Float, class Bits> inline Float atomicAddFloat(Float* at, Float value) {
  const Bits old = atomicChange((Bits*)at, [&](Bits seen) { return bitsAs<Bits>(Float(bitsAs<Float>(seen) + value)); });
  return bitsAs<Float>(old);
}
inline float atomicAdd(float* at, float value) { return atomicAddFloat<float, uint32_t>(at, value); }
inline double atomicAdd(double* at, double value) { return atomicAddFloat<double, uint64_t>(at, value); }

// ---- warps
inline void __syncwarp(unsigned = ~0u) { emulator::exchange(0); }
inline unsigned __ballot_sync(unsigned, int isSet) {
  const uint64_t* all = emulator::exchange(isSet != 0);
  unsigned bits = 0;
  for (unsigned i = 0; i < 32; i++) bits |= unsigned(all[i]) << i;
  return bits;
}
inline int __any_sync(unsigned mask, int isSet) { return __ballot_sync(mask, isSet) != 0; }
inline int __all_sync(unsigned mask, int isSet) { return __ballot_sync(mask, isSet) == ~0u; }
template <class T> inline T __shfl_sync(unsigned, T mine, unsigned from) { return T(emulator::exchange(uint64_t(mine))[from % 32]); }
template <class T> inline T __shfl_up_sync(unsigned, T mine, unsigned by) {
  const uint64_t* all = emulator::exchange(uint64_t(mine));
  return emulator::lane() >= by ? T(all[emulator::lane() - by]) : mine;
}
template <class T> inline T __shfl_down_sync(unsigned, T mine, unsigned by) {
  const uint64_t* all = emulator::exchange(uint64_t(mine));
  return emulator::lane() + by < 32 ? T(all[emulator::lane() + by]) : mine;
}
template <class T> inline T __shfl_xor_sync(unsigned, T mine, unsigned with) {
  return T(emulator::exchange(uint64_t(mine))[emulator::lane() ^ with]);
}
template <class T> inline unsigned __match_any_sync(unsigned, T mine) {
  const uint64_t* all = emulator::exchange(uint64_t(mine));
  unsigned bits = 0;
  for (unsigned i = 0; i < 32; i++) bits |= unsigned(all[i] == uint64_t(mine)) << i;
  return bits;
}
inline unsigned __reduce_add_sync(unsigned, unsigned mine) {
  const uint64_t* all = emulator::exchange(mine);
  unsigned sum = 0;
  for (unsigned i = 0; i < 32; i++) sum += unsigned(all[i]);
  return sum;
}
inline unsigned __reduce_max_sync(unsigned, unsigned mine) {
  const uint64_t* all = emulator::exchange(mine);
  return unsigned(*std::max_element(all, all + 32));
}

namespace warpmap {
inline void waitABit() { emulator::pause(); }
}  // namespace warpmap
