// The arguments of the kernels: one struct an operation, whose fields are the bindings, constants and params of its
// declaration in src/table/kernels.ts, in that order. A test compares both.
#pragma once
#include <cstdint>

/// A range of memory; `at` is null where a binding is left out.
struct Range {
  unsigned char* at;
  unsigned long long bytes;
};

/// Fields that all kernels of tables have after `slots`, `control` and their other bindings.
#define WARPMAP_TABLE_CONSTANTS \
  uint32_t SLOTS;               \
  uint32_t HASH;                \
  uint32_t MULTIPLIER;          \
  uint32_t OFFSET;              \
  uint32_t KEY_WORDS;           \
  uint32_t VALUE_WORDS;         \
  uint32_t FLOATS32;            \
  uint32_t FLOATS64;

struct insert_arguments {
  Range slots, control, keys, values, mask, hashes, list, isNew, rejected;
  WARPMAP_TABLE_CONSTANTS
  uint32_t COUNT, RULE, CAREFUL, ACCEPT_REJECTED, REUSE, AHEAD;
};
using insert_each_arguments = insert_arguments;

struct find_arguments {
  Range slots, control, keys, mask, hashes, list, values, found;
  WARPMAP_TABLE_CONSTANTS
  uint32_t COUNT, MISSING, MISSING_HIGH;
};

struct find_each_arguments {
  Range slots, control, keys, mask, hashes, values, found;
  WARPMAP_TABLE_CONSTANTS
  uint32_t COUNT, MISSING, MISSING_HIGH;
};

struct erase_arguments {
  Range slots, control, keys, mask, hashes, list;
  WARPMAP_TABLE_CONSTANTS
  uint32_t COUNT;
};

struct windows_insert_arguments {
  Range slots, control, keys, ends, list, values, isNew;
  WARPMAP_TABLE_CONSTANTS
  uint32_t BITS, MOST, RULE, REUSE, IS_EMPTY;
};

struct windows_find_arguments {
  Range slots, control, keys, ends, list, values, found;
  WARPMAP_TABLE_CONSTANTS
  uint32_t BITS, MOST, MISSING, MISSING_HIGH;
};

struct windows_erase_arguments {
  Range slots, control, keys, ends, list;
  WARPMAP_TABLE_CONSTANTS
  uint32_t BITS, MOST;
};

struct retrieve_arguments {
  Range slots, control, keys, values;
  WARPMAP_TABLE_CONSTANTS
  uint32_t COUNT;
};

struct statistics_arguments {
  Range slots, control, hashes, histogram;
  WARPMAP_TABLE_CONSTANTS
};

struct device_fill_arguments {
  Range words;
  uint32_t WORD;
};

struct batch_pack_arguments {
  Range column, packed;
  uint32_t WORKGROUP, count, shift, words, stride, offset;
};

struct batch_split_arguments {
  Range packed, flags, column;
  uint32_t WORKGROUP, FLAGGED, count, shift, words, stride, offset, flagShift, missing, missingHigh;
};

struct number_rows_arguments {
  Range rows;
  uint32_t COUNT;
};

struct mark_chosen_arguments {
  Range rows, mask, chosen;
  uint32_t COUNT;
};

struct owner_hash_arguments {
  Range column, hashes;
  uint32_t COUNT, WORDS, FLOAT, FIRST, SEED;
};

struct owner_sort_arguments {
  Range column, hashes, mask, hot, counts, begins, order;
  uint32_t COUNT, WORDS, FLOAT, FIRST, SEED, OWNERS, CHUNKS, OWN, HOT, STAYING;
};

struct owner_offsets_arguments {
  Range counts, starts;
  uint32_t BINS, SHARES;
};

struct owner_send_arguments {
  Range order, counts, begins, column, segments;
  uint32_t TILES, SEGMENTS, BYTES, BASE;
};

struct owner_take_arguments {
  Range order, counts, begins, segments, to;
  uint32_t TILES, SEGMENTS, BYTES;
};

struct owner_gather_arguments {
  Range order, column, to;
  uint32_t COUNT;
};

struct owner_scatter_arguments {
  Range order, column, to;
  uint32_t COUNT, BYTES;
};

struct owner_merge_arguments {
  Range numbers, ends, places;
  uint32_t COUNT, LISTS;
};

struct group_pack_arguments {
  Range column, to;
  uint32_t COUNT, WORDS, STRIDE, AT;
};

struct group_find_arguments {
  Range keys, slots, found;
  uint32_t COUNT, WORDS, SLOTS, SEED;
};

struct group_count_arguments {
  Range slots, found, counts;
  uint32_t COUNT;
};

struct group_place_arguments {
  Range slots, found, counts, places;
  uint32_t COUNT;
};

struct group_merge_arguments {
  Range slots, found, places, column, to;
  uint32_t FIRST, COUNT, WORDS, HOW, FORM;
};

struct owner_part_starts_arguments {
  Range sources, starts, cursors;
  uint32_t FINE, LOW, HIGH, SHIFT, SOURCES;
};

struct owner_fill_arguments {
  Range to;
  uint32_t COUNT, BYTES, LOW, HIGH;
};

/// What partitions of keys depend on.
#define WARPMAP_PARTITION_CONSTANTS \
  uint32_t HASH;                    \
  uint32_t MULTIPLIER;              \
  uint32_t OFFSET;                  \
  uint32_t FLOATS32;                \
  uint32_t FLOATS64;

struct partition_count_arguments {
  Range keys, mask, cursors;
  WARPMAP_PARTITION_CONSTANTS
  uint32_t COUNT, BITS;
};

struct partition_offsets_arguments {
  Range cursors, firstCursors;
  uint32_t BITS, FIRST_BITS;
};

struct partition_scatter_arguments {
  Range ends, keys, values, mask, cursors, sortedKeys, sortedValues, places;
  WARPMAP_PARTITION_CONSTANTS
  uint32_t COUNT, FIRST_BITS, BITS, TILES;
};

struct partition_count_owned_arguments {
  Range keys, mask, cursors;
  WARPMAP_PARTITION_CONSTANTS
  uint32_t COUNT, BITS, OWNERS, OWNER_BITS, SEED;
};

struct partition_scatter_owned_arguments {
  Range ends, keys, values, mask, cursors, sortedKeys, sortedValues, places;
  WARPMAP_PARTITION_CONSTANTS
  uint32_t COUNT, FIRST_BITS, BITS, TILES, OWNERS, OWNER_BITS, SEED;
};

struct partition_gather_arguments {
  Range ends, places, sortedValues, sortedFound, values, found;
  uint32_t COUNT, FIRST_BITS, MISSING, MISSING_HIGH;
};
