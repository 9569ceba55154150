// Running a grid of blocks on the OS threads of this machine.
#pragma once
#include "emulator.h"

namespace emulator {

using Kernel = void (*)(const void* arguments);

/// Runs a kernel's blocks, several at once, and returns when all have ended.
void runGrid(Kernel kernel, const void* arguments, Dimensions grid, Dimensions block, unsigned sharedBytes);

}  // namespace emulator
