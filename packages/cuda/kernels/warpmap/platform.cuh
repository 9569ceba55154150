// What the kernels need of their compiler: number types, and names for what nvcc and the emulator's g++ spell
// differently. Nothing here knows of tables.
#pragma once

// NVRTC has no headers of the system
#if !defined(__CUDACC_RTC__)
#include <cstdint>
#endif

#if defined(__CUDACC__)
#define WARPMAP_DEVICE __device__ __forceinline__
/// A function that would cost its callers registers.
#define WARPMAP_DEVICE_CALL __device__ __noinline__
/// Opens the definition of a kernel: WARPMAP_KERNEL(name, Arguments, threads of a block) { … a.COUNT … }; a fourth
/// argument says how many blocks a multiprocessor must have registers for.
#define WARPMAP_KERNEL(name, Arguments, ...) \
  extern "C" __global__ void __launch_bounds__(__VA_ARGS__) name(const __grid_constant__ Arguments a)
/// Shared memory whose size the launch says.
#define WARPMAP_DYNAMIC_SHARED(name) extern __shared__ __align__(16) unsigned char name[]
#else
#include "emulator.h"
#endif

namespace warpmap {

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

constexpr u32 ALL_LANES = 0xffffffffu;

/// Ceiling of a / b.
WARPMAP_DEVICE constexpr u64 ceilDivide(u64 a, u64 b) { return (a + b - 1) / b; }

}  // namespace warpmap
