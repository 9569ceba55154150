/**
 * The kernels of grouping: which fragments make up those that pack rows into records, number equal rows and list
 * members; and what kernels need that find the group of a row, those of joins among them.
 */
import { countersOf } from "../counters.js";
import { fragment, kernelSource, read, readWrite } from "../kernel-source.js";

export const rowParams = [
  /** Rows (outputs, slots) first .. first + count are this dispatch's. */
  "first",
  "count",
  /** Slots of the table of rows. */
  "slots",
  /** Times that rows were numbered before. */
  "round",
  "rowWords",
  /** Words of a record before its strings. */
  "plainWords",
  "nullWords",
  /** Packing: the column's number, where it goes in the record, its width in words, and where its bytes begin. */
  "column",
  "columnWord",
  "columnWidth",
  "columnBytes",
  /** 1: nulls are equal to nulls. 0: a row with a null has no partner. */
  "nullsEqual",
  /** Elements of the whole array, for scans and searches. */
  "total",
  /** What control.rowsMatched is where all rows have a partner: see ../join/select-rows.wgsl. */
  "whole",
  /** Slots of a probe, at most. */
  "reach",
  /** What words are hashed as: see mix.wgsl. */
  "factor",
  "summand",
] as const;

/** What a dispatch that reduces columns by group is told. */
export const reduceParams = [
  "first",
  "count",
  "groups",
  /** Words of state that a group has. */
  "stride",
  /**
   * A column's values: bits of each (1, 8, 16 or whole words), words in which they are compared, how they are read, and
   * if they may be null.
   */
  "bits",
  "words",
  "form",
  "nullable",
  /** The upper word of a float's infinity. */
  "infinity",
  /** Of values that are added up: the lowest place of floats, and the exponent's field of what sums count. */
  "lowest",
  "exponent",
  /** Words of sums that are integers, and whether these are decimals. */
  "size",
  "isLimited",
  /** The words of the double that means are divided by besides. */
  "unitLow",
  "unitHigh",
  /** 0xffffffff: the least word is looked for. */
  "flip",
  /** Words of the extreme value that are known. */
  "phase",
  /** 1: the last row is looked for. */
  "latest",
  /** Where words of state begin. */
  "base",
  /**
   * Rows that an invocation takes, and the logarithm of the slots that a group has in a workgroup's cache: see
   * group-cache.wgsl.
   */
  "items",
  "replicas",
  /**
   * Slots of the table of keys, their logarithm, steps of a probe, and whether keys may be null: see key-slots.wgsl.
   */
  "slots",
  "slotBits",
  "steps",
  "keyNullable",
  /** Rows of all dispatches. */
  "total",
  /** Rows of one bin above which keys are uneven: see survey-keys.wgsl. */
  "most",
  /**
   * Logarithms: parts of the rows, those that they were split into first, and finer ones of each; workgroups that split
   * a part again: part-items.wgsl.
   */
  "partBits",
  "splitBits",
  "fineBits",
  "tiles",
  /** What words of keys are hashed as: see ../reduce/keyed-hash.wgsl. */
  "multiplier",
  "offset",
  /** What takes the multiplication back. */
  "inverse",
] as const;

/** What a dispatch over keys that lie close together is told. */
export const denseParams = [
  "first",
  "count",
  "nullsEqual",
  "keyNullable",
  /** The least key's words, and how many keys there are from it to the greatest: see key-place.wgsl. */
  "lowest",
  "lowestUpper",
  "places",
  /** Rows that an invocation takes, and one row in how many. */
  "items",
  "stride",
  /** Keys of a longer range are not close together. */
  "most",
  /** What was counted before, and, where partners are listed, as above. */
  "total",
  "whole",
] as const;

/** Values of the parameters; those left out are 0. */
export type RowParams = {
  readonly [N in (typeof rowParams | typeof reduceParams | typeof denseParams)[number]]?: number;
};

/** What row kernels count: exact, from the call's start, modulo 2^32. */
export const rowCounters = countersOf("RowControl", [
  /** Distinct rows. */
  "groups",
  /** Rows in no group. */
  "excluded",
  /** Rows that dispatches left for another one, all dispatches together. */
  "unfinished",
  /** Not 0: a row has found no place within its reach. */
  "crowded",
  /** Pairs, or bytes of gathered strings: 64 bits. */
  "totalLow",
  "totalHigh",
  /**
   * Groups that keys of one word have, not counting that of nulls; 1 where that is; 1 where the table has no room for a
   * group.
   */
  "keyGroups",
  "keyNulls",
  "keysLeft",
  /** The logarithm of the slots of a workgroup's cache that such a group may have. */
  "keyReplicas",
  /** Different keys of a sample: see ../reduce/survey-keys.wgsl. */
  "keysMarked",
  /** 1 where some bin has many more rows than others. */
  "keysUneven",
  /** 1 where a sum outgrows a decimal. */
  "sumsLeft",
  /** 1 where rows of a side have equal keys: see ../join/match-parts.wgsl. */
  "keysRepeat",
  /**
   * A key, how far others reach above and below it, 1 where some do not fit such words, and how many there are: see
   * key-range.wgsl.
   */
  "keyLower",
  "keyUpper",
  "keysAbove",
  "keysBelow",
  "keysFar",
  "keysCounted",
  /** Places of an index that have a row. */
  "keysPlaced",
  /** Rows that have a partner, where these are counted by themselves. */
  "rowsMatched",
]);

/** Rows (or pairs) that one workgroup takes. */
export const ROW_TILE = 256;

export const rowsFragment = fragment("groups/rows");
/** An entry point that goes over rows, for kernels that have these already. */
export const eachElement = fragment("groups/each-element");
/** Rows by number, and the entry point. */
export const eachRow = [rowsFragment, eachElement];
/** The row that has a piece of a result. */
export const searching = fragment("groups/row-of", { bindings: { outStarts: read() } });

const side = { records: read(), bytes: read() };
const otherSide = { buildRecords: read(), buildBytes: read() };

/** Comparing rows of the side that is in the table with rows of the side that probes it. */
const comparing = [
  fragment("table/hash"),
  rowsFragment,
  fragment("groups/bytes-at"),
  fragment("groups/equal"),
  rowCounters.control,
];
const comparingOneSide = [fragment("groups/one-side", { bindings: side }), ...comparing];

/** Finding the group of a row of another side than the one that is in the table. */
export const finding = [
  fragment("groups/two-sides", { bindings: { ...otherSide, ...side } }),
  ...comparing,
  fragment("groups/find-group", { bindings: { table: read() } }),
];

const packing = [
  ...eachRow,
  fragment("groups/mix", {
    constants: [
      /** Bits of the hash that are kept. Tests clear bits so that different rows collide. */
      "HASH_MASK",
    ],
  }),
  fragment("groups/pack", {
    bindings: { records: readWrite(), validity: read() },
    constants: [
      /** The column has a validity bitmap. */
      "NULLABLE",
    ],
  }),
];

/** A table of words that are exchanged. */
export const exchanging = [
  fragment("groups/word", { bindings: { table: readWrite("array<atomic<Word>>") } }),
  fragment("direct/cas"),
];

export const packWordsKernel = kernelSource("pack words", rowParams, [
  ...packing,
  fragment("groups/pack-words", { bindings: { data: read() } }),
]);
export const packBytesKernel = kernelSource("pack bytes", rowParams, [
  ...packing,
  fragment("groups/bytes-at"),
  fragment("groups/pack-bytes", { bindings: { starts: read(), ends: read(), bytes: read() } }),
]);
export const numberRowsKernel = kernelSource("number rows", rowParams, [
  ...comparingOneSide,
  ...exchanging,
  fragment("groups/number-rows", {
    bindings: {
      /** Per leader: rows of its group. */
      sizes: readWrite("array<atomic<u32>>"),
      /** Per row: its leader, EMPTY while it has none. */
      leaders: readWrite(),
      /** Per row: rows of its group that came before it. */
      ranks: readWrite(),
      /** Per leader: the number of its group. */
      numbers: readWrite(),
    },
    constants: [
      /** Numbers are wanted. */
      "NUMBERED",
      /** Ranks and sizes are. */
      "RANKED",
    ],
  }),
]);
export const numberGroupsKernel = kernelSource("number groups", rowParams, [
  ...eachRow,
  fragment("groups/number-groups", {
    bindings: { groupOf: readWrite(), numbers: read(), sizes: read(), counts: readWrite() },
    constants: [
      /** Sizes are known, and counts wanted. */
      "COUNTED",
    ],
  }),
]);
export const listMembersKernel = kernelSource("list members", rowParams, [
  ...eachRow,
  fragment("groups/list-members", {
    bindings: { groupOf: read(), ranks: read(), starts: read(), members: readWrite() },
  }),
]);
