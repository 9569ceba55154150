/**
 * The kernels that bring rows into the order of their keys' parts, and sum up each part's groups:
 * see row-parts.ts and sum-parts.ts.
 */

import { reduceParams, rowCounters } from "../groups/row-kernels.js";
import { fragment, kernelSource, read, readWrite } from "../kernel-source.js";
import { addends, atomics, mixedKeys, tiles, tilesOfRows, values } from "./reduce-kernels.js";

const starts = fragment("reduce/part-items", { bindings: { partStarts: read() } });
const splitting = [
  starts,
  fragment("reduce/put-part-item", {
    bindings: { cursors: atomics(), items: readWrite("array<vec2u>"), words: readWrite() },
    constants: [
      /** Rows have values. */
      "VALUED",
    ],
  }),
];

export const splitRowsKernel = kernelSource("split rows", reduceParams, [
  ...mixedKeys,
  ...tilesOfRows,
  ...splitting,
  values,
  fragment("reduce/split-rows", {
    constants: [
      /** Values are of one word: reading them takes no branch, so that many are on their way at once. */
      "WHOLE",
      /** One or two words of a column go along in place of the row's number. */
      "CARRIED",
    ],
  }),
]);

/** Brings rows of parts into the order of smaller ones. */
export const splitPartsKernel = kernelSource("split parts", reduceParams, [
  ...tiles,
  ...splitting,
  fragment("reduce/split-parts", { bindings: { splitItems: read("array<vec2u>"), splitWords: read() } }),
]);

/** Groups of parts, their rows and sums. */
export const sumPartsKernel = kernelSource("sum parts", reduceParams, [
  fragment("table/hash"),
  rowCounters.control,
  starts,
  ...addends,
  fragment("partitioned/cas-seen"),
  fragment("reduce/sum-parts", {
    bindings: { items: read("array<vec2u>"), counts: readWrite(), firsts: readWrite(), sums: readWrite() },
    constants: [
      /** Slots of a workgroup's table, a power of two. */
      "SLOTS",
      "INVOCATIONS",
      /** A column is summed up; its values lie beside the rows; some are null. */
      "SUMMED",
      "CARRIED",
      "NULLABLE",
      /** Slots of counts of values, and of the words of sums. */
      "VALUE_SLOTS",
      "SUM_SLOTS",
    ],
  }),
]);
