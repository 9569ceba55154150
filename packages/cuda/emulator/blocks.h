// Running a grid of blocks on the OS threads of this machine.
#pragma once
#include "emulator.h"

namespace emulator {

using Kernel = void (*)(void* const* parameters);

/// Runs a kernel's blocks, several at once, and returns when all have ended.
void runGrid(Kernel kernel, void* const* parameters, Dimensions grid, Dimensions block, unsigned sharedBytes);

}  // namespace emulator
