/** The kernels that reduce columns by group: states of groups are made over rows, and finished in the order of the groups. */
import { fragment, kernelSource, read, readWrite } from "../device/kernel-source.js";
import { eachRow, reduceParams, rowsFragment } from "../groups/row-kernels.js";
import addValues from "./add-values.wgsl";
import countMarks from "./count-marks.wgsl";
import finishCounts from "./finish-counts.wgsl";
import finishMeans from "./finish-means.wgsl";
import finishRows from "./finish-rows.wgsl";
import finishSums from "./finish-sums.wgsl";
import finishValidity from "./finish-validity.wgsl";
import groupCache from "./group-cache.wgsl";
import listMarked from "./list-marked.wgsl";
import markKept from "./mark-kept.wgsl";
import orderGroups from "./order-groups.wgsl";
import raise from "./raise.wgsl";
import total from "./total.wgsl";
import values from "./values.wgsl";

/** Rows that an invocation of the kernels over rows takes. */
export const REDUCE_ITEMS = 16;

const atomics = () => readWrite("array<atomic<u32>>");

const overRows = [
  rowsFragment,
  fragment(groupCache),
  fragment(values, { bindings: { data: read(), validity: read() } }),
];
const rowBindings = { groupOf: read(), states: atomics() };

/** Counts values, and adds them up. */
export const addValuesKernel = kernelSource("add values", reduceParams, [
  ...overRows,
  fragment(addValues, { bindings: rowBindings }),
]);

/** Finds extreme values and rows, word by word. */
export const raiseKernel = kernelSource("raise", reduceParams, [
  ...overRows,
  fragment(raise, { bindings: rowBindings }),
]);

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
