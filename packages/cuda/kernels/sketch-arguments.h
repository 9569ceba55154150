// The arguments of kernels over sketches: made by test/shared-arguments.test.ts.
#pragma once
#include "arguments.h"

struct SketchParams {
  uint32_t count;
  uint32_t keyShift;
  uint32_t maskShift;
  uint32_t flagShift;
  uint32_t blocks;
};

struct sketches_combine_sketches_arguments {
  Range into;
  Range other;
  uint32_t HOW;
};

struct sketches_filter_add_arguments {
  Range mask;
  Range keys;
  Range bits;
  uint32_t MASKED;
  uint32_t WORKGROUP;
  uint32_t KEY_WORDS;
  uint32_t KEY_F32;
  SketchParams params;
};

struct sketches_filter_contains_arguments {
  Range mask;
  Range keys;
  Range halves;
  Range flags;
  uint32_t MASKED;
  uint32_t WORKGROUP;
  uint32_t KEY_WORDS;
  uint32_t KEY_F32;
  SketchParams params;
};

struct sketches_registers_add_arguments {
  Range mask;
  Range keys;
  Range registers;
  uint32_t MASKED;
  uint32_t WORKGROUP;
  uint32_t KEY_WORDS;
  uint32_t KEY_F32;
  uint32_t PRECISION;
  uint32_t LOCAL;
  SketchParams params;
};
