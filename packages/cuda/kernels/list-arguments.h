// The arguments of kernels over lists, and what they count: made by test/shared-arguments.test.ts.
#pragma once
#include "arguments.h"

namespace warpmap::lists {
constexpr uint32_t NO_LIST = 4294967295u;
constexpr uint32_t GROWN = 2147483648u;
constexpr uint32_t MISSING = 4294967295u;
}

struct ListControl {
  uint32_t entries;
  uint32_t filled;
  uint32_t room;
  uint32_t records;
  uint32_t totalLow;
  uint32_t totalHigh;
  uint32_t groups;
};

struct ListParams {
  uint32_t first;
  uint32_t count;
  uint32_t numbersShift;
  uint32_t maskShift;
  uint32_t valuesShift;
  uint32_t keysShift;
  uint32_t outShift;
  uint32_t keysOutShift;
  uint32_t flagsShift;
  uint32_t total;
  uint32_t base;
  uint32_t firstNumber;
  uint32_t recordBase;
  uint32_t growth;
  uint32_t pageRoom;
  uint32_t tile;
  uint32_t missingLow;
  uint32_t missingHigh;
};

struct lists_flag_rows_arguments {
  Range mask;
  Range words;
  uint32_t HEAD;
  uint32_t MASKED;
  ListParams params;
};

struct lists_count_up_arguments {
  Range words;
  uint32_t HEAD;
  ListParams params;
};

struct lists_init_lists_arguments {
  Range mask;
  Range numbers;
  Range values;
  Range heads;
  Range room;
  uint32_t HEAD;
  uint32_t MASKED;
  uint32_t VALUE_WORDS;
  ListParams params;
};

struct lists_tally_arguments {
  Range control;
  Range numbers;
  Range tallies;
  Range ranks;
  uint32_t HEAD;
  uint32_t RANKED;
  uint32_t COUNTS_LISTS;
  ListParams params;
};

struct lists_allocate_pieces_arguments {
  Range control;
  Range numbers;
  Range ranks;
  Range added;
  Range heads;
  Range records;
  uint32_t HEAD;
  uint32_t MEASURES;
  ListParams params;
};

struct lists_put_values_arguments {
  Range numbers;
  Range heads;
  Range records;
  Range room;
  Range added;
  Range ranks;
  Range values;
  uint32_t HEAD;
  uint32_t VALUE_WORDS;
  ListParams params;
};

struct lists_reset_tallies_arguments {
  Range numbers;
  Range ranks;
  Range added;
  uint32_t HEAD;
  ListParams params;
};

struct lists_look_up_lists_arguments {
  Range numbers;
  Range heads;
  Range records;
  Range keys;
  Range room;
  Range out;
  Range flags;
  uint32_t HEAD;
  uint32_t FLOAT_KEYS;
  uint32_t SIZED;
  uint32_t VALUED;
  uint32_t FLAGGED;
  uint32_t OUT_WORDS;
  ListParams params;
};

struct lists_drop_lists_arguments {
  Range control;
  Range numbers;
  Range heads;
  uint32_t HEAD;
  ListParams params;
};

struct lists_locate_lists_arguments {
  Range numbers;
  Range heads;
  Range mask;
  Range control;
  Range offsets;
  Range places;
  uint32_t HEAD;
  uint32_t MASKED;
  uint32_t OUTER;
  ListParams params;
};

struct lists_expand_lists_arguments {
  Range room;
  Range records;
  Range keys;
  Range offsets;
  Range places;
  Range outQueries;
  Range outKeys;
  Range outValues;
  uint32_t HEAD;
  uint32_t VALUE_WORDS;
  uint32_t FLOAT_KEYS;
  uint32_t QUERIES;
  uint32_t KEY_WORDS;
  ListParams params;
};

struct lists_head_lists_arguments {
  Range offsets;
  Range heads;
  uint32_t HEAD;
  ListParams params;
};

struct lists_pair_arguments {
  Range numbers;
  Range values;
  Range pairs;
  uint32_t HEAD;
  ListParams params;
};

struct lists_compact_entries_arguments {
  Range records;
  Range room;
  Range struck;
  Range queries;
  Range places;
  Range offsets;
  Range copies;
  uint32_t HEAD;
  uint32_t VALUE_WORDS;
  ListParams params;
};

struct lists_shorten_lists_arguments {
  Range control;
  Range numbers;
  Range offsets;
  Range struck;
  Range heads;
  uint32_t HEAD;
  ListParams params;
};
