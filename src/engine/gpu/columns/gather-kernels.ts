/** The kernels that gather columns by row numbers, and list rows as a mask. */
import { eachRow, rowCounters, rowParams, rowsFragment, searching } from "../groups/row-kernels.js";
import { totalling } from "../groups/totals.js";
import { fragment, kernelSource, read, readWrite } from "../kernel-source.js";

const byRow = { rows: read() };

/** Values of whole words. */
export const gatherWordsKernel = kernelSource("gather words", rowParams, [
  ...eachRow,
  fragment("columns/gather-words", { bindings: { ...byRow, data: read(), gathered: readWrite() } }),
]);

/** Values of less than a word. */
export const gatherSmallKernel = kernelSource("gather small", rowParams, [
  ...eachRow,
  fragment("columns/gather-small", {
    bindings: { ...byRow, data: read(), gathered: readWrite() },
    constants: [
      /** 32 for bits, 4 for bytes, 2 for values of two bytes. */
      "VALUES_PER_WORD",
      /** False: every row that is there has the bit 1. */
      "HAS_DATA",
    ],
  }),
]);

export const stringLengthsKernel = kernelSource("string lengths", rowParams, [
  rowsFragment,
  rowCounters.control,
  totalling,
  fragment("columns/string-lengths", { bindings: { ...byRow, offsets: read(), lengths: readWrite() } }),
]);

export const gatherBytesKernel = kernelSource("gather bytes", rowParams, [
  ...eachRow,
  searching,
  fragment("columns/gather-bytes", {
    bindings: {
      ...byRow,
      /** Where the strings begin in the source. */
      offsets: read(),
      bytes: read(),
      gathered: readWrite(),
    },
  }),
]);

export const maskRowsKernel = kernelSource("mask rows", rowParams, [
  ...eachRow,
  fragment("columns/mask-rows", { bindings: { ...byRow, mask: readWrite("array<atomic<u32>>") } }),
]);
