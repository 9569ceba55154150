// What a kernel of users is told of a live table: what `tableArguments(map).bytes()` of warpmap-cuda/device answers, taken
// by value. Make a Table of it (table.cuh), and read no fields.
#pragma once
#include "platform.cuh"

namespace warpmap {

struct TableArguments {
  struct Memory {
    unsigned char* at;
    u64 bytes;
  };
  Memory slots, control;
  u32 SLOTS;
  u32 HASH;
  u32 MULTIPLIER;
  u32 OFFSET;
  u32 KEY_WORDS;
  u32 VALUE_WORDS;
  u32 FLOATS32;
  u32 FLOATS64;
};
static_assert(sizeof(TableArguments) == 64, "src/device.ts writes 64 bytes");

}  // namespace warpmap
