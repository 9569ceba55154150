/** The kernels that reduce columns by group: states of groups are made over rows, and finished in the order of the groups. */

import cas from "../../webgpu/direct/cas.wgsl";
import type { KernelOverrides } from "../../webgpu/direct/direct-kernels.js";
import lanesPlain from "../../webgpu/partitioned/lanes-plain.wgsl";
import lanesSubgroups from "../../webgpu/partitioned/lanes-subgroups.wgsl";
import packPlain from "../../webgpu/partitioned/pack-plain.wgsl";
import packSubgroups from "../../webgpu/partitioned/pack-subgroups.wgsl";
import tile from "../../webgpu/partitioned/tile.wgsl";
import hash from "../../webgpu/table/hash.wgsl";
import addValues from "../../webgpu/wgsl/reduce/add-values.wgsl";
import claimSlot from "../../webgpu/wgsl/reduce/claim-slot.wgsl";
import countKeys from "../../webgpu/wgsl/reduce/count-keys.wgsl";
import countMarks from "../../webgpu/wgsl/reduce/count-marks.wgsl";
import findSlot from "../../webgpu/wgsl/reduce/find-slot.wgsl";
import finishCounts from "../../webgpu/wgsl/reduce/finish-counts.wgsl";
import finishMeans from "../../webgpu/wgsl/reduce/finish-means.wgsl";
import finishRows from "../../webgpu/wgsl/reduce/finish-rows.wgsl";
import finishSums from "../../webgpu/wgsl/reduce/finish-sums.wgsl";
import finishValidity from "../../webgpu/wgsl/reduce/finish-validity.wgsl";
import groupCache from "../../webgpu/wgsl/reduce/group-cache.wgsl";
import keySlots from "../../webgpu/wgsl/reduce/key-slots.wgsl";
import keyedHash from "../../webgpu/wgsl/reduce/keyed-hash.wgsl";
import keyedRows from "../../webgpu/wgsl/reduce/keyed-rows.wgsl";
import listMarked from "../../webgpu/wgsl/reduce/list-marked.wgsl";
import listedRows from "../../webgpu/wgsl/reduce/listed-rows.wgsl";
import markKept from "../../webgpu/wgsl/reduce/mark-kept.wgsl";
import mixedKey from "../../webgpu/wgsl/reduce/mixed-key.wgsl";
import numberedRows from "../../webgpu/wgsl/reduce/numbered-rows.wgsl";
import orderGroups from "../../webgpu/wgsl/reduce/order-groups.wgsl";
import putGroups from "../../webgpu/wgsl/reduce/put-groups.wgsl";
import raise from "../../webgpu/wgsl/reduce/raise.wgsl";
import sampleKeys from "../../webgpu/wgsl/reduce/sample-keys.wgsl";
import scatterRows from "../../webgpu/wgsl/reduce/scatter-rows.wgsl";
import sortGroups from "../../webgpu/wgsl/reduce/sort-groups.wgsl";
import surveyKeys from "../../webgpu/wgsl/reduce/survey-keys.wgsl";
import tileRows from "../../webgpu/wgsl/reduce/tile-rows.wgsl";
import total from "../../webgpu/wgsl/reduce/total.wgsl";
import values from "../../webgpu/wgsl/reduce/values.wgsl";
import { getOrMake } from "../get-or-make.js";
import { eachRow, reduceParams, rowCounters, rowsFragment } from "../groups/row-kernels.js";
import { fragment, kernelSource, read, readWrite } from "../kernel-source.js";

export const atomics = () => readWrite("array<atomic<u32>>");

const hashing = [fragment(hash), fragment(keyedHash)];
const keySlotsFragments = [...hashing, fragment(keySlots)];
const keyBindings = { keys: read(), keyValidity: read() };
/** Rows that tell their groups by keys: in their order, or listed in that of the keys. */
const byKey = {
  keys: [...keySlotsFragments, fragment(keyedRows, { bindings: keyBindings })],
  items: [...keySlotsFragments, fragment(listedRows, { bindings: { items: read("array<vec2u>") } })],
};
const finding = fragment(findSlot, { bindings: { table: read() } });
/** Rows of groups that all have numbers. */
const grouped = {
  numbers: [fragment(numberedRows, { bindings: { groupOf: read() } })],
  keys: [...byKey.keys, finding],
  items: [...byKey.items, finding],
};

/** A kernel for each way in which rows tell their groups. */
function forRowsBy<K>(kernel: (way: keyof typeof grouped) => K): { readonly [W in keyof typeof grouped]: K } {
  return { numbers: kernel("numbers"), keys: kernel("keys"), items: kernel("items") };
}

const cached = [
  rowsFragment,
  fragment(groupCache, {
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
const overValues = [...cached, fragment(values, { bindings: { data: read(), validity: read() } })];

/** Counts values, and adds them up. */
export const addValuesKernels = forRowsBy((way) =>
  kernelSource("add values", reduceParams, [
    ...overValues,
    ...grouped[way],
    fragment(addValues, { bindings: { states: atomics() } }),
  ]),
);

/** Finds extreme values and rows, word by word. */
export const raiseKernels = forRowsBy((way) =>
  kernelSource("raise", reduceParams, [
    ...overValues,
    ...grouped[way],
    fragment(raise, { bindings: { states: atomics() } }),
  ]),
);

/** Numbers the groups of keys of one word, counts their rows and finds their first ones. */
const makeCountKeys = (way: keyof typeof byKey, casCode: string) =>
  kernelSource("count keys", reduceParams, [
    ...cached,
    ...byKey[way],
    rowCounters.control,
    fragment("alias Word = u32;", { bindings: { table: readWrite("array<atomic<Word>>") } }),
    fragment(casCode),
    fragment(claimSlot),
    fragment(countKeys, { bindings: { counts: atomics(), firsts: atomics() } }),
  ]);
const countKeysKernels = new Map<string, ReturnType<typeof makeCountKeys>>();

/** The kernel `count keys`. */
export function countKeysKernel(way: keyof typeof byKey, overrides: KernelOverrides) {
  const code = overrides.cas ?? cas;
  return getOrMake(countKeysKernels, way + code, () => makeCountKeys(way, code));
}

const BINS = [
  /** Bins, a power of two, and its logarithm. */
  "BINS",
  "BIN_BITS",
] as const;

/** The mixed key of a row. */
export const mixedKeys = [
  ...hashing,
  fragment(mixedKey, {
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
  fragment(sampleKeys, { bindings: { keys: read() } }),
]);

/** Counts rows by the upper bits of their mixed keys, and different keys of a sample. */
export const surveyKeysKernel = kernelSource("survey keys", reduceParams, [
  rowsFragment,
  ...mixedKeys,
  rowCounters.control,
  fragment(surveyKeys, {
    bindings: { starts: atomics(), marks: atomics() },
    constants: [...BINS, "SAMPLE_BITS"],
  }),
]);

/** Tiles of items that go into the order of their bins. */
export const tiles = (subgroups: boolean) => [
  subgroups ? fragment(lanesSubgroups, { enables: ["subgroups"] }) : fragment(lanesPlain),
  fragment(subgroups ? packSubgroups : packPlain),
  fragment(tile, { constants: ["WORKGROUP", "BINS", "ITEMS", "ROUNDS"] }),
];
/** The same of rows, with the entry point. */
export const tilesOfRows = (subgroups: boolean) => [...tiles(subgroups), fragment(tileRows)];

const makeScatterRows = (subgroups: boolean) =>
  kernelSource("scatter rows", reduceParams, [
    ...hashing,
    ...tilesOfRows(subgroups),
    fragment(scatterRows, {
      bindings: { ...keyBindings, cursors: atomics(), items: readWrite("array<vec2u>") },
      constants: BINS,
    }),
  ]);
/** Lists rows in the order of the upper bits of their mixed keys. */
export const scatterRowsKernels = { subgroups: makeScatterRows(true), plain: makeScatterRows(false) };

/** Marks the first or last row of every group. */
export const markKeptKernel = kernelSource("mark kept", reduceParams, [
  ...eachRow,
  fragment(markKept, {
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
  fragment(countMarks, { bindings: { marks: read(), starts: readWrite() } }),
]);

/** Lists the marked rows. */
export const listMarkedKernel = kernelSource("list marked", reduceParams, [
  ...eachRow,
  fragment(listMarked, { bindings: { marks: read(), starts: read(), listed: readWrite() } }),
]);

/** Lists groups by their first rows. */
export const orderGroupsKernel = kernelSource("order groups", reduceParams, [
  ...eachRow,
  fragment(orderGroups, {
    bindings: { states: read(), marks: read(), starts: read(), order: readWrite(), firsts: readWrite() },
  }),
]);

const makeSortGroups = (subgroups: boolean) =>
  kernelSource("sort groups", reduceParams, [
    ...tilesOfRows(subgroups),
    fragment(sortGroups, {
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
/** Brings groups near to their places in the order of their first rows. */
export const sortGroupsKernels = { subgroups: makeSortGroups(true), plain: makeSortGroups(false) };

/** Lists groups that are near to their places. */
export const putGroupsKernel = kernelSource("put groups", reduceParams, [
  ...eachRow,
  fragment(putGroups, {
    bindings: { sorted: read("array<vec2u>"), sortedGroups: read(), order: readWrite(), firsts: readWrite() },
  }),
]);

const finishing = { bindings: { order: read(), states: read(), finished: readWrite() } };
const finishKernel = (label: string, ...code: readonly string[]) =>
  kernelSource(label, reduceParams, [...eachRow, ...code.map((each) => fragment(each, finishing))]);

export type FinishKernel = ReturnType<typeof finishKernel>;

/** Row numbers. */
export const finishRowsKernel = finishKernel("finish rows", finishRows);
/** Counts as 64-bit integers. */
export const finishCountsKernel = finishKernel("finish counts", finishCounts);
/** Which groups have values. */
export const finishValidityKernel = finishKernel("finish validity", finishValidity);
/** Sums as integers of 64 or 128 bits. */
export const finishSumsKernel = finishKernel("finish sums", total, finishSums);
/** Means as float64. */
export const finishMeansKernel = finishKernel("finish means", total, finishMeans);
