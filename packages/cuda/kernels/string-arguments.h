// The arguments of kernels over strings, and what they count: made by test/shared-arguments.test.ts.
#pragma once
#include "arguments.h"

namespace warpmap::strings {
constexpr uint32_t ENTRY = 2147483648u;
constexpr uint32_t MOST_TAG = 4294967293u;
constexpr uint32_t NO_NUMBER = 4294967295u;
}

struct StringControl {
  uint32_t unfinished;
  uint32_t absent;
  uint32_t absentWords;
  uint32_t strings;
  uint32_t used;
};

struct StringParams {
  uint32_t count;
  uint32_t slotMask;
  uint32_t base;
  uint32_t offsetShift;
  uint32_t maskShift;
  uint32_t numberShift;
  uint32_t multiplier;
  uint32_t offset;
  uint32_t hashMask;
  uint32_t round;
  uint32_t first;
};

struct strings_find_strings_arguments {
  Range control;
  Range table;
  Range places;
  Range bytes;
  Range offsets;
  Range mask;
  Range arena;
  uint32_t HASH;
  uint32_t RECORDS;
  uint32_t MASKED;
  uint32_t CLAIMS;
  StringParams params;
};

struct strings_keep_strings_arguments {
  Range control;
  Range table;
  Range places;
  Range bytes;
  Range offsets;
  Range arena;
  uint32_t HASH;
  uint32_t RECORDS;
  StringParams params;
};

struct strings_number_strings_arguments {
  Range places;
  Range slots;
  Range numbers;
  StringParams params;
};

struct strings_move_slots_arguments {
  Range control;
  Range table;
  Range bytes;
  Range offsets;
  Range slots;
  uint32_t HASH;
  uint32_t RECORDS;
  uint32_t REHASH;
  StringParams params;
};
