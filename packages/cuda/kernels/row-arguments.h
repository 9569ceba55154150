// The arguments of kernels over rows, and what they count: made by test/shared-arguments.test.ts.
#pragma once
#include "arguments.h"

struct RowControl {
  uint32_t groups;
  uint32_t excluded;
  uint32_t unfinished;
  uint32_t crowded;
  uint32_t totalLow;
  uint32_t totalHigh;
  uint32_t keyGroups;
  uint32_t keyNulls;
  uint32_t keysLeft;
  uint32_t keyReplicas;
  uint32_t keysMarked;
  uint32_t keysUneven;
  uint32_t sumsLeft;
  uint32_t keysRepeat;
  uint32_t keyLower;
  uint32_t keyUpper;
  uint32_t keysAbove;
  uint32_t keysBelow;
  uint32_t keysFar;
  uint32_t keysCounted;
  uint32_t keysPlaced;
  uint32_t rowsMatched;
};

struct RowParams {
  uint32_t first;
  uint32_t count;
  uint32_t slots;
  uint32_t round;
  uint32_t rowWords;
  uint32_t plainWords;
  uint32_t nullWords;
  uint32_t column;
  uint32_t columnWord;
  uint32_t columnWidth;
  uint32_t columnBytes;
  uint32_t nullsEqual;
  uint32_t total;
  uint32_t whole;
  uint32_t reach;
  uint32_t factor;
  uint32_t summand;
};

struct ReduceParams {
  uint32_t first;
  uint32_t count;
  uint32_t groups;
  uint32_t stride;
  uint32_t bits;
  uint32_t words;
  uint32_t form;
  uint32_t nullable;
  uint32_t infinity;
  uint32_t lowest;
  uint32_t exponent;
  uint32_t size;
  uint32_t isLimited;
  uint32_t unitLow;
  uint32_t unitHigh;
  uint32_t flip;
  uint32_t phase;
  uint32_t latest;
  uint32_t base;
  uint32_t items;
  uint32_t replicas;
  uint32_t slots;
  uint32_t slotBits;
  uint32_t steps;
  uint32_t keyNullable;
  uint32_t total;
  uint32_t most;
  uint32_t partBits;
  uint32_t splitBits;
  uint32_t fineBits;
  uint32_t tiles;
  uint32_t multiplier;
  uint32_t offset;
  uint32_t inverse;
};

struct DenseParams {
  uint32_t first;
  uint32_t count;
  uint32_t nullsEqual;
  uint32_t keyNullable;
  uint32_t lowest;
  uint32_t lowestUpper;
  uint32_t places;
  uint32_t items;
  uint32_t stride;
  uint32_t most;
  uint32_t total;
  uint32_t whole;
};

struct ScanParams {
  uint32_t total;
};

struct columns_gather_words_arguments {
  Range rows;
  Range data;
  Range gathered;
  RowParams params;
};

struct columns_gather_small_arguments {
  Range rows;
  Range data;
  Range gathered;
  uint32_t VALUES_PER_WORD;
  uint32_t HAS_DATA;
  RowParams params;
};

struct columns_string_lengths_arguments {
  Range control;
  Range rows;
  Range offsets;
  Range lengths;
  RowParams params;
};

struct columns_gather_bytes_arguments {
  Range outStarts;
  Range rows;
  Range offsets;
  Range bytes;
  Range gathered;
  RowParams params;
};

struct columns_mask_rows_arguments {
  Range rows;
  Range mask;
  RowParams params;
};

struct groups_key_range_arguments {
  Range keys;
  Range keyValidity;
  Range control;
  uint32_t KEY_WORDS;
  DenseParams params;
};

struct groups_narrow_keys_arguments {
  Range keys;
  Range keyValidity;
  Range narrowed;
  uint32_t KEY_WORDS;
  DenseParams params;
};

struct groups_scan_arguments {
  Range words;
  Range tileSums;
  ScanParams params;
};

struct groups_scan_add_arguments {
  Range words;
  Range tileSums;
  ScanParams params;
};

struct groups_pack_words_arguments {
  Range records;
  Range validity;
  Range data;
  uint32_t HASH_MASK;
  uint32_t NULLABLE;
  RowParams params;
};

struct groups_pack_bytes_arguments {
  Range records;
  Range validity;
  Range starts;
  Range ends;
  Range bytes;
  uint32_t HASH_MASK;
  uint32_t NULLABLE;
  RowParams params;
};

struct groups_number_groups_arguments {
  Range groupOf;
  Range numbers;
  Range sizes;
  Range counts;
  uint32_t COUNTED;
  RowParams params;
};

struct groups_list_members_arguments {
  Range groupOf;
  Range ranks;
  Range starts;
  Range members;
  RowParams params;
};

struct groups_number_rows_arguments {
  Range records;
  Range bytes;
  Range control;
  Range table;
  Range sizes;
  Range leaders;
  Range ranks;
  Range numbers;
  uint32_t NUMBERED;
  uint32_t RANKED;
  RowParams params;
};

struct join_place_rows_arguments {
  Range keys;
  Range keyValidity;
  Range rowsAt;
  uint32_t KEY_WORDS;
  DenseParams params;
};

struct join_count_placed_arguments {
  Range control;
  Range rowsAt;
  DenseParams params;
};

struct join_dense_partners_arguments {
  Range keys;
  Range keyValidity;
  Range rowsAt;
  Range partners;
  uint32_t KEY_WORDS;
  DenseParams params;
};

struct join_select_by_place_arguments {
  Range keys;
  Range keyValidity;
  Range rowsAt;
  Range control;
  Range outRows;
  Range outPartners;
  uint32_t KEY_WORDS;
  uint32_t MATCHED;
  uint32_t WITH_PARTNERS;
  uint32_t COUNTED;
  DenseParams params;
};

struct join_count_places_arguments {
  Range keys;
  Range keyValidity;
  Range sizes;
  Range leaders;
  Range ranks;
  uint32_t KEY_WORDS;
  DenseParams params;
};

struct join_dense_matches_arguments {
  Range keys;
  Range keyValidity;
  Range control;
  Range sizes;
  Range matches;
  uint32_t KEY_WORDS;
  DenseParams params;
};

struct join_probe_arguments {
  Range buildRecords;
  Range buildBytes;
  Range records;
  Range bytes;
  Range control;
  Range table;
  Range sizes;
  Range matches;
  RowParams params;
};

struct join_match_counts_arguments {
  Range matches;
  Range counts;
  RowParams params;
};

struct join_expand_arguments {
  Range outStarts;
  Range matches;
  Range starts;
  Range members;
  Range outBuild;
  Range outProbe;
  RowParams params;
};

struct join_partners_arguments {
  Range buildRecords;
  Range buildBytes;
  Range records;
  Range bytes;
  Range control;
  Range table;
  Range partners;
  RowParams params;
};

struct join_select_rows_arguments {
  Range partners;
  Range control;
  Range outRows;
  Range outPartners;
  uint32_t MATCHED;
  uint32_t WITH_PARTNERS;
  uint32_t COUNTED;
  RowParams params;
};

struct join_count_partners_arguments {
  Range control;
  Range partners;
  RowParams params;
};

struct join_mark_rows_arguments {
  Range partners;
  Range marks;
  RowParams params;
};

struct join_count_up_arguments {
  Range numbers;
  RowParams params;
};

struct join_flags_of_bits_arguments {
  Range validity;
  Range flags;
  RowParams params;
};

struct join_match_parts_wide_arguments {
  Range control;
  Range buildItems;
  Range buildStarts;
  Range items;
  Range partStarts;
  Range buildWords;
  Range words;
  Range partners;
  uint32_t SLOTS;
  uint32_t MOST_BUILDS;
  uint32_t INVOCATIONS;
  uint32_t WIDE_KEYS;
  uint32_t NUMBER_BITS;
  uint32_t EXACT;
  ReduceParams params;
};

struct join_join_parts_narrow_arguments {
  Range control;
  Range buildItems;
  Range buildStarts;
  Range items;
  Range partStarts;
  Range outKeys;
  Range outProbe;
  Range outBuild;
  uint32_t SLOTS;
  uint32_t MOST_BUILDS;
  uint32_t INVOCATIONS;
  uint32_t WIDE_KEYS;
  uint32_t NUMBER_BITS;
  uint32_t EXACT;
  uint32_t KEYED;
  uint32_t PROBE_WORDS;
  uint32_t BUILD_WORDS;
  ReduceParams params;
};

struct join_join_parts_wide_arguments {
  Range control;
  Range buildItems;
  Range buildStarts;
  Range items;
  Range partStarts;
  Range outKeys;
  Range outProbe;
  Range outBuild;
  Range buildWords;
  Range words;
  uint32_t SLOTS;
  uint32_t MOST_BUILDS;
  uint32_t INVOCATIONS;
  uint32_t WIDE_KEYS;
  uint32_t NUMBER_BITS;
  uint32_t EXACT;
  uint32_t KEYED;
  uint32_t PROBE_WORDS;
  uint32_t BUILD_WORDS;
  ReduceParams params;
};

struct reduce_split_rows_arguments {
  Range keys;
  Range partStarts;
  Range cursors;
  Range items;
  Range words;
  Range data;
  Range validity;
  uint32_t WIDE_KEYS;
  uint32_t WORKGROUP;
  uint32_t BINS;
  uint32_t ITEMS;
  uint32_t ROUNDS;
  uint32_t VALUED;
  uint32_t WHOLE;
  uint32_t CARRIED;
  ReduceParams params;
};

struct reduce_split_parts_arguments {
  Range partStarts;
  Range cursors;
  Range items;
  Range words;
  Range splitItems;
  Range splitWords;
  uint32_t WORKGROUP;
  uint32_t BINS;
  uint32_t ITEMS;
  uint32_t ROUNDS;
  uint32_t VALUED;
  ReduceParams params;
};

struct reduce_sum_parts_arguments {
  Range control;
  Range partStarts;
  Range data;
  Range validity;
  Range items;
  Range counts;
  Range firsts;
  Range sums;
  uint32_t FLOATS;
  uint32_t WORDS;
  uint32_t SLOTS;
  uint32_t INVOCATIONS;
  uint32_t SUMMED;
  uint32_t CARRIED;
  uint32_t NULLABLE;
  uint32_t VALUE_SLOTS;
  uint32_t SUM_SLOTS;
  ReduceParams params;
};

struct reduce_survey_values_arguments {
  Range data;
  Range validity;
  Range told;
  uint32_t FLOATS;
  ReduceParams params;
};

struct reduce_add_values_numbered_arguments {
  Range data;
  Range validity;
  Range states;
  Range firsts;
  Range groupOf;
  uint32_t CACHE;
  uint32_t CACHE_BITS;
  uint32_t STEPS;
  uint32_t INVOCATIONS;
  uint32_t FLOATS;
  uint32_t WORDS;
  uint32_t SUMMED;
  uint32_t FIRSTS;
  ReduceParams params;
};

struct reduce_add_values_keyed_arguments {
  Range data;
  Range validity;
  Range states;
  Range firsts;
  Range keys;
  Range keyValidity;
  Range table;
  uint32_t CACHE;
  uint32_t CACHE_BITS;
  uint32_t STEPS;
  uint32_t INVOCATIONS;
  uint32_t FLOATS;
  uint32_t WORDS;
  uint32_t SUMMED;
  uint32_t FIRSTS;
  ReduceParams params;
};

struct reduce_add_values_listed_arguments {
  Range data;
  Range validity;
  Range states;
  Range firsts;
  Range items;
  Range table;
  uint32_t CACHE;
  uint32_t CACHE_BITS;
  uint32_t STEPS;
  uint32_t INVOCATIONS;
  uint32_t FLOATS;
  uint32_t WORDS;
  uint32_t SUMMED;
  uint32_t FIRSTS;
  ReduceParams params;
};

struct reduce_raise_numbered_arguments {
  Range data;
  Range validity;
  Range groupOf;
  Range states;
  uint32_t CACHE;
  uint32_t CACHE_BITS;
  uint32_t STEPS;
  uint32_t INVOCATIONS;
  uint32_t VALUED;
  ReduceParams params;
};

struct reduce_raise_keyed_arguments {
  Range data;
  Range validity;
  Range keys;
  Range keyValidity;
  Range table;
  Range states;
  uint32_t CACHE;
  uint32_t CACHE_BITS;
  uint32_t STEPS;
  uint32_t INVOCATIONS;
  uint32_t VALUED;
  ReduceParams params;
};

struct reduce_raise_listed_arguments {
  Range data;
  Range validity;
  Range items;
  Range table;
  Range states;
  uint32_t CACHE;
  uint32_t CACHE_BITS;
  uint32_t STEPS;
  uint32_t INVOCATIONS;
  uint32_t VALUED;
  ReduceParams params;
};

struct reduce_count_keys_keyed_arguments {
  Range data;
  Range validity;
  Range states;
  Range firsts;
  Range keys;
  Range keyValidity;
  Range control;
  Range table;
  uint32_t CACHE;
  uint32_t CACHE_BITS;
  uint32_t STEPS;
  uint32_t INVOCATIONS;
  uint32_t FLOATS;
  uint32_t WORDS;
  uint32_t SUMMED;
  uint32_t FIRSTS;
  ReduceParams params;
};

struct reduce_count_keys_listed_arguments {
  Range data;
  Range validity;
  Range states;
  Range firsts;
  Range items;
  Range control;
  Range table;
  uint32_t CACHE;
  uint32_t CACHE_BITS;
  uint32_t STEPS;
  uint32_t INVOCATIONS;
  uint32_t FLOATS;
  uint32_t WORDS;
  uint32_t SUMMED;
  uint32_t FIRSTS;
  ReduceParams params;
};

struct reduce_sample_keys_arguments {
  Range control;
  Range keys;
  ReduceParams params;
};

struct reduce_survey_keys_arguments {
  Range keys;
  Range control;
  Range starts;
  Range marks;
  uint32_t WIDE_KEYS;
  uint32_t BINS;
  uint32_t BIN_BITS;
  uint32_t SAMPLE_BITS;
  uint32_t INVOCATIONS;
  ReduceParams params;
};

struct reduce_scatter_rows_arguments {
  Range keys;
  Range keyValidity;
  Range cursors;
  Range items;
  uint32_t WORKGROUP;
  uint32_t BINS;
  uint32_t ITEMS;
  uint32_t ROUNDS;
  uint32_t BIN_BITS;
  ReduceParams params;
};

struct reduce_mark_kept_arguments {
  Range states;
  Range sizes;
  Range marks;
  uint32_t ALONE;
  ReduceParams params;
};

struct reduce_count_marks_arguments {
  Range marks;
  Range starts;
  ReduceParams params;
};

struct reduce_list_marked_arguments {
  Range marks;
  Range starts;
  Range listed;
  ReduceParams params;
};

struct reduce_order_groups_arguments {
  Range states;
  Range marks;
  Range starts;
  Range order;
  Range firsts;
  ReduceParams params;
};

struct reduce_sort_groups_arguments {
  Range states;
  Range marks;
  Range markStarts;
  Range cursors;
  Range sorted;
  Range sortedGroups;
  uint32_t WORKGROUP;
  uint32_t BINS;
  uint32_t ITEMS;
  uint32_t ROUNDS;
  ReduceParams params;
};

struct reduce_put_groups_arguments {
  Range sorted;
  Range sortedGroups;
  Range order;
  Range firsts;
  ReduceParams params;
};

struct reduce_finish_rows_arguments {
  Range order;
  Range states;
  Range finished;
  ReduceParams params;
};

struct reduce_finish_counts_arguments {
  Range order;
  Range states;
  Range finished;
  ReduceParams params;
};

struct reduce_finish_validity_arguments {
  Range order;
  Range states;
  Range finished;
  ReduceParams params;
};

struct reduce_finish_sums_arguments {
  Range control;
  Range order;
  Range states;
  Range finished;
  uint32_t WORDS;
  ReduceParams params;
};

struct reduce_finish_doubles_arguments {
  Range order;
  Range states;
  Range finished;
  uint32_t WORDS;
  ReduceParams params;
};

struct reduce_finish_means_arguments {
  Range order;
  Range states;
  Range finished;
  Range sums;
  uint32_t WORDS;
  ReduceParams params;
};
