// The driver API's functions that src/driver/ffi.ts calls, for tests on machines without a GPU: memory is the host's,
// commands run when they are called, or as late as their order allows, kernels are those of kernels/*.cu, compiled by g++
// into this library.
//
// Faults for tests, from the environment when the library is loaded, or by warpmapEmulatorInject(name, value):
//   WARPMAP_EMULATOR_DEVICES  GPUs, 1 unless told; 0: none
//   WARPMAP_EMULATOR_DRIVER   the driver's version, 13000 unless told
//   WARPMAP_EMULATOR_MEMORY   bytes of a GPU, 4 GiB unless told: allocations beyond it fail
//   WARPMAP_EMULATOR_SHARED   bytes of shared memory that a block may ask for, 227 KiB unless told
//   WARPMAP_EMULATOR_FAULT    the launch, counted from 1, that loses the context
//   WARPMAP_EMULATOR_OPEN     microseconds that making a GPU's context takes, 0 unless told
//   WARPMAP_EMULATOR_WAIT     microseconds that an event takes to be reached, 0 unless told
//   WARPMAP_EMULATOR_LAZY     1: commands of a stream run when somebody waits for them, and then no others than those: what
//                             another stream needs without waiting for it is not there
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "blocks.h"

namespace {

enum Result { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_DEVICE = 101,
              INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700 };

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::atomic<uint64_t> devices{setting("WARPMAP_EMULATOR_DEVICES", 1)};
std::atomic<uint64_t> version{setting("WARPMAP_EMULATOR_DRIVER", 13000)};
std::atomic<uint64_t> memory{setting("WARPMAP_EMULATOR_MEMORY", 4ull << 30)};
std::atomic<uint64_t> shared{setting("WARPMAP_EMULATOR_SHARED", 227 << 10)};
std::atomic<uint64_t> faultAt{setting("WARPMAP_EMULATOR_FAULT", 0)};
std::atomic<uint64_t> openMicroseconds{setting("WARPMAP_EMULATOR_OPEN", 0)};
std::atomic<uint64_t> waitMicroseconds{setting("WARPMAP_EMULATOR_WAIT", 0)};
std::atomic<bool> isLazy{setting("WARPMAP_EMULATOR_LAZY", 0) != 0};
std::atomic<uint64_t> launches{0};
std::atomic<bool> isInitialised{false};
/// A lost context answers every call with this.
std::atomic<int> fault{SUCCESS};

struct Allocations {
  std::mutex mutex;
  std::unordered_map<void*, size_t> sizes;
  uint64_t total = 0;
};
Allocations& allocations = *new Allocations;

/// Bytes that fresh memory is filled with, up to so many, so that nobody relies on zeros.
constexpr size_t POISONED = 1 << 20;

int allocate(void** at, size_t bytes, bool isDevice) {
  std::lock_guard<std::mutex> lock(allocations.mutex);
  if (bytes == 0) return INVALID_VALUE;
  if (isDevice && allocations.total + bytes > memory) return OUT_OF_MEMORY;
  *at = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  if (*at == nullptr) return OUT_OF_MEMORY;
  std::memset(*at, 0xcd, std::min(bytes, POISONED));
  allocations.sizes[*at] = isDevice ? bytes : 0;
  if (isDevice) allocations.total += bytes;
  return SUCCESS;
}

int release(void* at) {
  std::lock_guard<std::mutex> lock(allocations.mutex);
  const auto found = allocations.sizes.find(at);
  if (found == allocations.sizes.end()) return INVALID_VALUE;
  allocations.total -= found->second;
  allocations.sizes.erase(found);
  std::free(at);
  return SUCCESS;
}

using Clock = std::chrono::steady_clock;

/// Handles belong to the context that is current when they are made, as with a driver: those of another are refused.
thread_local void* current = nullptr;
struct Stream {
  void* context = current;
  std::deque<std::function<void()>> waiting;
  uint64_t given = 0, done = 0;
};
struct Event {
  void* context = current;
  Clock::time_point reached{};
  /// The commands before it.
  Stream* stream = nullptr;
  uint64_t commands = 0;
};
std::recursive_mutex& streamsMutex = *new std::recursive_mutex;
std::vector<Stream*>& streams = *new std::vector<Stream*>;

/// Runs a stream's commands up to one.
void runTo(Stream* stream, uint64_t command) {
  std::lock_guard<std::recursive_mutex> lock(streamsMutex);
  while (stream->done < command) {
    const std::function<void()> next = std::move(stream->waiting.front());
    stream->waiting.pop_front();
    stream->done++;
    next();
  }
}

void runAll() {
  std::lock_guard<std::recursive_mutex> lock(streamsMutex);
  for (Stream* stream : streams) runTo(stream, stream->given);
}

/// Runs a command in its turn.
template <class Command> int give(void* stream, const Command& command) {
  if (fault != SUCCESS) return fault;
  std::lock_guard<std::recursive_mutex> lock(streamsMutex);
  if (!isLazy || stream == nullptr) {
    if (isLazy) runAll();
    command();
    return SUCCESS;
  }
  ((Stream*)stream)->waiting.push_back([command] { if (fault == SUCCESS) command(); });
  ((Stream*)stream)->given++;
  return SUCCESS;
}
bool isOfCurrent(void* stream) { return stream == nullptr || ((Stream*)stream)->context == current; }

int copy(void* to, const void* from, size_t bytes, void* stream = nullptr) {
  return give(stream, [=] { std::memmove(to, from, bytes); });
}

}  // namespace

#define API extern "C" __attribute__((visibility("default"))) int

API warpmapEmulatorInject(const char* name, uint64_t value) {
  const std::string which = name;
  if (which == "DEVICES") devices = value;
  else if (which == "DRIVER") version = value;
  else if (which == "MEMORY") memory = value;
  else if (which == "SHARED") shared = value;
  else if (which == "FAULT") faultAt = value == 0 ? 0 : launches + value;
  else if (which == "OPEN") openMicroseconds = value;
  else if (which == "WAIT") waitMicroseconds = value;
  else if (which == "LAZY") {
    runAll();
    isLazy = value != 0;
  }
  else return INVALID_VALUE;
  return SUCCESS;
}

API cuInit(unsigned) {
  if (devices == 0) return NO_DEVICE;
  isInitialised = true;
  return SUCCESS;
}
API cuDriverGetVersion(int* to) {
  *to = int(version);
  return SUCCESS;
}
API cuDeviceGetCount(int* to) {
  if (!isInitialised) return NOT_INITIALIZED;
  *to = int(devices);
  return SUCCESS;
}
API cuDeviceGet(int* to, int ordinal) {
  if (ordinal < 0 || ordinal >= int(devices)) return INVALID_DEVICE;
  *to = ordinal;
  return SUCCESS;
}
API cuDeviceGetName(char* to, int length, int device) {
  std::snprintf(to, size_t(length), "Emulated GPU %d", device);
  return SUCCESS;
}
API cuDeviceGetUuid_v2(unsigned char* to, int device) {
  std::memset(to, 0, 16);
  to[15] = (unsigned char)(device + 1);
  return SUCCESS;
}
API cuDeviceTotalMem_v2(size_t* to, int) {
  *to = memory;
  return SUCCESS;
}
/// The attributes by their numbers in cuda.h.
API cuDeviceGetAttribute(int* to, int attribute, int) {
  switch (attribute) {
    case 1: *to = 1024; return SUCCESS;         // threads of a block
    case 8: *to = 48 << 10; return SUCCESS;     // shared memory of a block
    case 10: *to = 32; return SUCCESS;          // threads of a warp
    case 16: *to = 4; return SUCCESS;           // multiprocessors
    case 38: *to = 4 << 20; return SUCCESS;     // L2
    case 75: *to = 9; return SUCCESS;           // compute capability
    case 76: *to = 0; return SUCCESS;
    case 91: *to = 1; return SUCCESS;           // kernels take addresses of registered host memory
    case 97: *to = int(shared); return SUCCESS; // shared memory of a block that asks for it
    case 115: *to = 1; return SUCCESS;          // memory pools
    default: *to = 0; return SUCCESS;
  }
}
/// Who has a GPU's context.
std::atomic<int> holders[64];
API cuDevicePrimaryCtxRetain(void** to, int device) {
  *to = (void*)(uintptr_t)(device + 1);
  if (holders[device % 64]++ == 0) std::this_thread::sleep_for(std::chrono::microseconds(openMicroseconds));
  return fault;
}
API cuDevicePrimaryCtxRelease_v2(int device) {
  holders[device % 64]--;
  return SUCCESS;
}
API cuDevicePrimaryCtxReset_v2(int) {
  fault = SUCCESS;
  return SUCCESS;
}
API cuCtxSetCurrent(void* context) {
  current = context;
  return SUCCESS;
}
API cuDeviceCanAccessPeer(int* to, int, int) {
  *to = 1;
  return SUCCESS;
}
API cuCtxEnablePeerAccess(void*, unsigned) { return fault; }
API cuDeviceGetDefaultMemPool(void** to, int device) {
  *to = (void*)(uintptr_t)(device + 1);
  return SUCCESS;
}
API cuMemPoolSetAccess(void*, const void*, size_t) { return fault; }
API cuMemGetInfo_v2(size_t* available, size_t* total) {
  if (fault != SUCCESS) return fault;
  std::lock_guard<std::mutex> lock(allocations.mutex);
  *total = memory;
  *available = allocations.total > memory ? 0 : memory - allocations.total;
  return SUCCESS;
}

API cuMemAllocAsync(void** to, size_t bytes, void* stream) {
  if (!isOfCurrent(stream)) return INVALID_HANDLE;
  if (fault != SUCCESS) return fault;
  const int result = allocate(to, bytes, true);
  if (result != OUT_OF_MEMORY || !isLazy) return result;
  // what is to be freed
  runAll();
  return allocate(to, bytes, true);
}
API cuMemAlloc_v2(void** to, size_t bytes) { return cuMemAllocAsync(to, bytes, nullptr); }
API cuMemFreeAsync(void* at, void* stream) {
  if (!isOfCurrent(stream)) return INVALID_HANDLE;
  if (stream != nullptr && isLazy) return give(stream, [=] { release(at); });
  return fault != SUCCESS ? int(fault) : release(at);
}
API cuMemFree_v2(void* at) { return cuMemFreeAsync(at, nullptr); }
API cuMemAllocHost_v2(void** to, size_t bytes) { return fault != SUCCESS ? int(fault) : allocate(to, bytes, false); }
API cuMemHostAlloc(void** to, size_t bytes, unsigned) { return cuMemAllocHost_v2(to, bytes); }
API cuMemFreeHost(void* at) { return release(at); }
API cuMemHostRegister_v2(void*, size_t, unsigned) { return fault; }
API cuMemHostUnregister(void*) { return fault; }

/// The attributes by their numbers in cuda.h. All memory is of GPU 0.
API cuPointerGetAttribute(uint64_t* to, int attribute, uintptr_t pointer) {
  std::lock_guard<std::mutex> lock(allocations.mutex);
  for (const auto& [at, bytes] : allocations.sizes) {
    const uintptr_t start = uintptr_t(at);
    // of memory of the host the size is not kept
    if (pointer < start || pointer >= start + std::max<size_t>(bytes, 1)) continue;
    switch (attribute) {
      case 2: *to = bytes == 0 ? 1 : 2; return SUCCESS; // CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE
      case 9: *to = 0; return SUCCESS;                  // device ordinal
      case 11: *to = start; return SUCCESS;             // the range's first byte
      case 12: *to = bytes; return SUCCESS;             // and its bytes
      default: return INVALID_VALUE;
    }
  }
  return INVALID_VALUE;
}

API cuCtxSynchronize() {
  runAll();
  return fault;
}
API cuMemcpyHtoD_v2(void* to, const void* from, size_t bytes) { return copy(to, from, bytes); }
API cuMemcpyDtoH_v2(void* to, const void* from, size_t bytes) { return copy(to, from, bytes); }
API cuMemcpyHtoDAsync_v2(void* to, const void* from, size_t bytes, void* stream) {
  if (!isLazy) return copy(to, from, bytes, stream);
  // the host may change it afterwards
  const std::vector<char> data((const char*)from, (const char*)from + bytes);
  return give(stream, [=] { std::memcpy(to, data.data(), data.size()); });
}
API cuMemcpyDtoHAsync_v2(void* to, const void* from, size_t bytes, void* stream) { return copy(to, from, bytes, stream); }
API cuMemcpyDtoDAsync_v2(void* to, const void* from, size_t bytes, void* stream) { return copy(to, from, bytes, stream); }
API cuMemcpyAsync(void* to, const void* from, size_t bytes, void* stream) { return copy(to, from, bytes, stream); }
API cuMemcpyPeerAsync(void* to, void* context, const void* from, void* other, size_t bytes, void* stream) {
  return context == nullptr || other == nullptr ? int(INVALID_VALUE) : copy(to, from, bytes, stream);
}
API cuMemsetD8Async(void* to, unsigned char byte, size_t count, void* stream) {
  if (!isOfCurrent(stream)) return INVALID_HANDLE;
  return give(stream, [=] { std::memset(to, byte, count); });
}
API cuMemsetD32Async(unsigned* to, unsigned word, size_t count, void* stream) {
  return give(stream, [=] { std::fill(to, to + count, word); });
}

API cuStreamCreateWithPriority(void** to, unsigned, int) {
  std::lock_guard<std::recursive_mutex> lock(streamsMutex);
  streams.push_back(new Stream);
  *to = streams.back();
  return fault;
}
API cuStreamDestroy_v2(void* stream) {
  // events may still name it: it stays
  runTo((Stream*)stream, ((Stream*)stream)->given);
  return SUCCESS;
}
API cuStreamSynchronize(void* stream) {
  if (stream == nullptr) runAll();
  else runTo((Stream*)stream, ((Stream*)stream)->given);
  return fault;
}
API cuStreamWaitEvent(void* stream, void* event, unsigned) {
  const Event at = *(Event*)event;
  return give(stream, [=] { if (at.stream != nullptr) runTo(at.stream, at.commands); });
}

API cuEventCreate(void** to, unsigned) {
  *to = new Event;
  return fault;
}
API cuEventDestroy_v2(void* event) {
  delete (Event*)event;
  return SUCCESS;
}
API cuEventRecord(void* event, void* stream) {
  if (stream != nullptr && ((Event*)event)->context != ((Stream*)stream)->context) return INVALID_HANDLE;
  ((Event*)event)->stream = (Stream*)stream;
  ((Event*)event)->commands = stream == nullptr ? 0 : ((Stream*)stream)->given;
  ((Event*)event)->reached = Clock::now() + std::chrono::microseconds(waitMicroseconds);
  return fault;
}
API cuEventQuery(void* event) {
  const Event& at = *(Event*)event;
  if (at.stream != nullptr) runTo(at.stream, at.commands);
  if (fault != SUCCESS) return fault;
  return Clock::now() < at.reached ? NOT_READY : SUCCESS;
}
API cuEventSynchronize(void* event) {
  while (cuEventQuery(event) == NOT_READY) emulator::pause();
  return fault;
}
API cuEventElapsedTime_v2(float* to, void* from, void* until) {
  const Event& at = *(Event*)until;
  if (at.stream != nullptr && at.stream->done < at.commands) return NOT_READY;
  *to = std::chrono::duration<float, std::milli>(((Event*)until)->reached - ((Event*)from)->reached).count();
  return fault;
}
API cuEventElapsedTime(float* to, void* from, void* until) { return cuEventElapsedTime_v2(to, from, until); }

API cuModuleLoadData(void** to, const void*) {
  Dl_info own;
  if (dladdr((void*)cuModuleLoadData, &own) == 0) return NOT_FOUND;
  *to = dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  return *to == nullptr ? int(NOT_FOUND) : int(fault);
}
API cuModuleUnload(void*) { return SUCCESS; }
API cuModuleGetFunction(void** to, void* module, const char* name) {
  *to = dlsym(module, (std::string("warpmap_kernel_") + name).c_str());
  return *to == nullptr ? int(NOT_FOUND) : int(fault);
}
API cuFuncSetAttribute(void*, int, int) { return fault; }
API cuFuncGetAttribute(int* to, int, void*) {
  *to = 1024;
  return fault;
}
API cuLaunchKernel(void* kernel, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned x, unsigned y, unsigned z,
                   unsigned sharedBytes, void* stream, void** parameters, void**) {
  if (fault != SUCCESS) return fault;
  if (!isOfCurrent(stream)) return INVALID_HANDLE;
  if (gridX == 0 || gridY == 0 || gridZ != 1 || x == 0 || x > 1024 || y != 1 || z != 1) return INVALID_VALUE;
  // as a real launch does, it succeeds; whoever waits for it learns
  if (++launches == faultAt) fault = ILLEGAL_ADDRESS;
  else if (!isLazy) emulator::runGrid((emulator::Kernel)kernel, parameters, {gridX, gridY, 1}, {x, 1, 1}, sharedBytes);
  else {
    // arguments are copied by the call: the struct that all kernels of src/runtime/kernels.ts have
    const std::vector<char> arguments((char*)parameters[0], (char*)parameters[0] + 4096);
    return give(stream, [=] {
      void* first = (void*)arguments.data();
      emulator::runGrid((emulator::Kernel)kernel, &first, {gridX, gridY, 1}, {x, 1, 1}, sharedBytes);
    });
  }
  return SUCCESS;
}

API cuGetErrorName(int error, const char** to) {
  switch (error) {
    case SUCCESS: *to = "CUDA_SUCCESS"; break;
    case INVALID_VALUE: *to = "CUDA_ERROR_INVALID_VALUE"; break;
    case OUT_OF_MEMORY: *to = "CUDA_ERROR_OUT_OF_MEMORY"; break;
    case NOT_INITIALIZED: *to = "CUDA_ERROR_NOT_INITIALIZED"; break;
    case NO_DEVICE: *to = "CUDA_ERROR_NO_DEVICE"; break;
    case INVALID_DEVICE: *to = "CUDA_ERROR_INVALID_DEVICE"; break;
    case INVALID_HANDLE: *to = "CUDA_ERROR_INVALID_HANDLE"; break;
    case NOT_FOUND: *to = "CUDA_ERROR_NOT_FOUND"; break;
    case NOT_READY: *to = "CUDA_ERROR_NOT_READY"; break;
    case ILLEGAL_ADDRESS: *to = "CUDA_ERROR_ILLEGAL_ADDRESS"; break;
    default: *to = "CUDA_ERROR_UNKNOWN";
  }
  return SUCCESS;
}
API cuGetErrorString(int error, const char** to) { return cuGetErrorName(error, to); }
