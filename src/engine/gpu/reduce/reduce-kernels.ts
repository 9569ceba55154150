/**
 * The kernels that reduce columns by group: states of groups are made over rows, and finished in the order of the
 * groups.
 */

import { eachRow, exchanging, reduceParams, rowCounters, rowsFragment } from "../groups/row-kernels.js";
import { fragment, kernelSource, read, readWrite } from "../kernel-source.js";

export const atomics = () => readWrite("array<atomic<u32>>");

const hashing = [fragment("table/hash"), fragment("reduce/keyed-hash")];
const keySlotsFragments = [...hashing, fragment("reduce/key-slots")];
const keyBindings = { keys: read(), keyValidity: read() };
/** Rows that tell their groups by keys: in their order, or listed in that of the keys. */
const byKey = {
  keys: [...keySlotsFragments, fragment("reduce/keyed-rows", { bindings: keyBindings })],
  items: [
    ...keySlotsFragments,
    fragment("reduce/listed-rows", { bindings: { items: read("array<vec2u>") } }),
  ],
};
const known = fragment("reduce/known-groups");
const finding = [fragment("reduce/find-slot", { bindings: { table: read() } }), known];
/** Rows of groups that all have numbers. */
const grouped = {
  numbers: [fragment("reduce/numbered-rows", { bindings: { groupOf: read() } }), known],
  keys: [...byKey.keys, ...finding],
  items: [...byKey.items, ...finding],
};

/** A kernel for each way in which rows tell their groups. */
function forRowsBy<K>(kernel: (way: keyof typeof grouped) => K): { readonly [W in keyof typeof grouped]: K } {
  return { numbers: kernel("numbers"), keys: kernel("keys"), items: kernel("items") };
}

const cached = [
  rowsFragment,
  fragment("reduce/group-cache", {
    constants: [
      /** Slots, a power of two, and its logarithm. */
      "CACHE",
      "CACHE_BITS",
      /** Slots that a group may have. */
      "STEPS",
      /** Invocations of a workgroup. */
      "INVOCATIONS",
    ],
  }),
];
export const values = fragment("reduce/values", { bindings: { data: read(), validity: read() } });
const overValues = [...cached, values];
const wholeFloats = fragment("reduce/whole-float", {
  constants: [
    /** Values are floats. */
    "FLOATS",
  ],
});
/** Values as integers that are added up. */
export const addends = [
  values,
  wholeFloats,
  fragment("reduce/addends", {
    constants: [
      /** Of such an integer. */
      "WORDS",
    ],
  }),
];

/** Tells where the bits of a column's values are. */
export const surveyValuesKernel = kernelSource("survey values", reduceParams, [
  rowsFragment,
  values,
  wholeFloats,
  fragment("reduce/survey-values", { bindings: { told: atomics() } }),
]);

const adding = [
  ...cached,
  ...addends,
  fragment("reduce/add-values", {
    bindings: { states: atomics(), firsts: atomics() },
    constants: [
      /** Values are added up. */
      "SUMMED",
      /** First rows are found. */
      "FIRSTS",
    ],
  }),
];

/** Counts values, and adds them up. */
export const addValuesKernels = forRowsBy((way) =>
  kernelSource("add values", reduceParams, [...adding, ...grouped[way]]),
);

/** Finds extreme values and rows, word by word. */
export const raiseKernels = forRowsBy((way) =>
  kernelSource("raise", reduceParams, [
    ...overValues,
    ...grouped[way],
    fragment("reduce/raise", {
      bindings: { states: atomics() },
      constants: [
        /** Values have words. */
        "VALUED",
      ],
    }),
  ]),
);

/** The same where it numbers the groups of keys of one word, and finds their first rows. */
const countKeys = (way: keyof typeof byKey) =>
  kernelSource("count keys", reduceParams, [
    ...adding,
    ...byKey[way],
    rowCounters.control,
    ...exchanging,
    fragment("reduce/claim-slot"),
  ]);
export const countKeysKernels = { keys: countKeys("keys"), items: countKeys("items") };

const BINS = [
  /** Bins, a power of two, and its logarithm. */
  "BINS",
  "BIN_BITS",
] as const;

/** The mixed key of a row. */
export const mixedKeys = [
  ...hashing,
  fragment("reduce/mixed-key", {
    bindings: { keys: read() },
    constants: [
      /** Keys have two words. */
      "WIDE_KEYS",
    ],
  }),
];

/** Tells whether a sample of the keys has more groups than there are slots. */
export const sampleKeysKernel = kernelSource("sample keys", reduceParams, [
  rowsFragment,
  ...hashing,
  rowCounters.control,
  fragment("reduce/sample-keys", { bindings: { keys: read() } }),
]);

/** Counts rows by the upper bits of their mixed keys, and different keys of a sample. */
export const surveyKeysKernel = kernelSource("survey keys", reduceParams, [
  ...mixedKeys,
  rowCounters.control,
  fragment("reduce/survey-keys", {
    bindings: { starts: atomics(), marks: atomics() },
    constants: [...BINS, "SAMPLE_BITS", "INVOCATIONS"],
  }),
]);

/** Tiles of items that go into the order of their bins. */
export const tiles = [
  fragment("partitioned/lanes"),
  fragment("partitioned/pack"),
  fragment("partitioned/tile", { constants: ["WORKGROUP", "BINS", "ITEMS", "ROUNDS"] }),
];
/** The same of rows, with the entry point. */
export const tilesOfRows = [...tiles, fragment("reduce/tile-rows")];

/** Lists rows in the order of the upper bits of their mixed keys. */
export const scatterRowsKernel = kernelSource("scatter rows", reduceParams, [
  ...hashing,
  ...tilesOfRows,
  fragment("reduce/scatter-rows", {
    bindings: { ...keyBindings, cursors: atomics(), items: readWrite("array<vec2u>") },
    constants: BINS,
  }),
]);

/** Marks the first or last row of every group. */
export const markKeptKernel = kernelSource("mark kept", reduceParams, [
  ...eachRow,
  fragment("reduce/mark-kept", {
    bindings: { states: read(), sizes: read(), marks: atomics() },
    constants: [
      /** Of groups of one row alone. */
      "ALONE",
    ],
  }),
]);

/** Counts the marks of every word. */
export const countMarksKernel = kernelSource("count marks", reduceParams, [
  ...eachRow,
  fragment("reduce/count-marks", { bindings: { marks: read(), starts: readWrite() } }),
]);

export const listMarkedKernel = kernelSource("list marked", reduceParams, [
  ...eachRow,
  fragment("reduce/list-marked", { bindings: { marks: read(), starts: read(), listed: readWrite() } }),
]);

/** Lists groups by their first rows. */
export const orderGroupsKernel = kernelSource("order groups", reduceParams, [
  ...eachRow,
  fragment("reduce/order-groups", {
    bindings: { states: read(), marks: read(), starts: read(), order: readWrite(), firsts: readWrite() },
  }),
]);

/** Brings groups near to their places in the order of their first rows. */
export const sortGroupsKernel = kernelSource("sort groups", reduceParams, [
  ...tilesOfRows,
  fragment("reduce/sort-groups", {
    bindings: {
      states: read(),
      marks: read(),
      markStarts: read(),
      cursors: atomics(),
      sorted: readWrite("array<vec2u>"),
      sortedGroups: readWrite(),
    },
  }),
]);

/** Lists groups that are near to their places. */
export const putGroupsKernel = kernelSource("put groups", reduceParams, [
  ...eachRow,
  fragment("reduce/put-groups", {
    bindings: { sorted: read("array<vec2u>"), sortedGroups: read(), order: readWrite(), firsts: readWrite() },
  }),
]);

const finishing = { bindings: { order: read(), states: read(), finished: readWrite() } };
const total = fragment("reduce/total", { ...finishing, constants: ["WORDS"] });
const nearest = fragment("reduce/nearest-double", { constants: ["WORDS"] });

export const finishRowsKernel = kernelSource("finish rows", reduceParams, [
  ...eachRow,
  fragment("reduce/finish-rows", finishing),
]);
/** Counts as 64-bit integers. */
export const finishCountsKernel = kernelSource("finish counts", reduceParams, [
  ...eachRow,
  fragment("reduce/finish-counts", finishing),
]);
/** Which groups have values. */
export const finishValidityKernel = kernelSource("finish validity", reduceParams, [
  ...eachRow,
  fragment("reduce/finish-validity", finishing),
]);
/** Sums of integers and decimals. */
export const finishSumsKernel = kernelSource("finish sums", reduceParams, [
  ...eachRow,
  rowCounters.control,
  total,
  fragment("reduce/finish-sums", {
    values: { LIMITS: [...wordsOf(10n ** 38n, 4), ...wordsOf(10n ** 76n, 8)] },
  }),
]);
export const finishDoublesKernel = kernelSource("finish doubles", reduceParams, [
  ...eachRow,
  total,
  nearest,
  fragment("reduce/finish-doubles"),
]);
/** Means as float64, of such sums. */
export const finishMeansKernel = kernelSource("finish means", reduceParams, [
  ...eachRow,
  nearest,
  fragment("reduce/finish-means", { bindings: { ...finishing.bindings, sums: read("array<vec2u>") } }),
]);

export type FinishKernel =
  | typeof finishRowsKernel
  | typeof finishSumsKernel
  | typeof finishDoublesKernel
  | typeof finishMeansKernel;

function wordsOf(integer: bigint, words: number): number[] {
  return Array.from({ length: words }, (_, k) => Number(BigInt.asUintN(32, integer >> BigInt(32 * k))));
}
