// Kernels as users write them, for the emulator: those of the example, and one of each function of a table for the
// formats of slots.
#include "../examples/own-kernels.cu"

WARPMAP_EMULATED(addViews)
WARPMAP_EMULATED(countAbove)
WARPMAP_EMULATED(eraseRare)

namespace {

/// What a test has a kernel do with each key.
enum Action : u32 { INSERT, ASSIGN, FIND, ERASE };

template <int K, int V, class Key, class Value>
void act(const warpmap::TableArguments& arguments, u32 action, const Key* keys, Value* values, u32* answers, u32 count) {
  const warpmap::Table<K, V> table(arguments);
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    if (action == INSERT) answers[i] = u32(table.insert(keys[i], values[i]));
    if (action == ASSIGN) answers[i] = u32(table.insertOrAssign(keys[i], values[i]));
    if (action == FIND) answers[i] = table.find(keys[i], values[i]);
    if (action == ERASE) answers[i] = table.erase(keys[i]);
  }
}

}  // namespace

#define ACTIONS_ON(name, K, V, Key, Value)                                                                     \
  extern "C" __global__ void name(warpmap::TableArguments arguments, u32 action, const Key* keys, Value* values, \
                                  u32* answers, u32 count) {                                                   \
    act<K, V>(arguments, action, keys, values, answers, count);                                                \
  }                                                                                                            \
  WARPMAP_EMULATED(name)
ACTIONS_ON(act_1_1, 1, 1, u32, u32)
ACTIONS_ON(act_1_2, 1, 2, u32, u64)
ACTIONS_ON(act_2_2, 2, 2, u64, u64)

/// Keys of three words, values of three.
extern "C" __global__ void act_wide(warpmap::TableArguments arguments, u32 action, const u32* keys, u32* values, u32* answers,
                                    u32 count) {
  const warpmap::Table<-1, -1> table(arguments);
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const warpmap::WideKey key = table.keyAt((const unsigned char*)keys, i);
  if (action == INSERT) answers[i] = u32(table.insert(key, {values + 3 * i}));
  if (action == FIND) answers[i] = table.find(key, values + 3 * i);
  if (action == ERASE) answers[i] = table.erase(key);
}
WARPMAP_EMULATED(act_wide)

/// How many keys of a set are below a bound.
extern "C" __global__ void countBelow(warpmap::TableArguments arguments, u32 bound, u32* result) {
  const warpmap::Table<1, 0> table(arguments);
  table.forEach([&](u64 slot, u32 word) {
    if (table.keyIn(slot, word) < bound) atomicAdd(result, 1u);
  });
}
WARPMAP_EMULATED(countBelow)
