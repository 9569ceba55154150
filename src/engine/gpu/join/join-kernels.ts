/**
 * The kernels of joins: the probe side finds its groups, pairs are written, and rows are listed by whether they match.
 */
import {
  eachElement,
  eachRow,
  finding,
  reduceParams,
  rowCounters,
  rowParams,
  rowsFragment,
  searching,
} from "../groups/row-kernels.js";
import { totalling } from "../groups/totals.js";
import { fragment, kernelSource, read, readWrite } from "../kernel-source.js";

/** Finds each row's group, and counts pairs. */
export const probeKernel = kernelSource("probe", rowParams, [
  ...finding,
  totalling,
  fragment("join/probe", { bindings: { sizes: read(), matches: readWrite("array<vec2u>") } }),
]);

/** The number of pairs of every row of the probe side, as a column to scan. */
export const matchCountsKernel = kernelSource("match counts", rowParams, [
  rowsFragment,
  fragment("join/match-counts", { bindings: { matches: read("array<vec2u>"), counts: readWrite() } }),
]);

/** Writes pairs, an invocation each. */
export const expandKernel = kernelSource("expand", rowParams, [
  rowsFragment,
  searching,
  fragment("join/expand", {
    bindings: {
      matches: read("array<vec2u>"),
      starts: read(),
      members: read(),
      outBuild: readWrite(),
      outProbe: readWrite(),
    },
  }),
]);

export const partnersKernel = kernelSource("partners", rowParams, [
  ...finding,
  eachElement,
  fragment("join/partners", { bindings: { partners: readWrite() } }),
]);

/** Rows that a workgroup of kernels that select takes for each that others take. */
export const SELECT_ITEMS = 4;
/** Lists the rows that have a partner, or those that have none. For modules with partnerAt (the partner of a row). */
export const selecting = [
  rowCounters.control,
  fragment("join/select-rows", {
    bindings: { outRows: readWrite(), outPartners: readWrite() },
    constants: [
      /** Rows that have a partner are listed. */
      "MATCHED",
      /** Their partners are, too. */
      "WITH_PARTNERS",
      /** Rows that have a partner were counted. */
      "COUNTED",
    ],
  }),
] as const;
/** The same where partners are in a column. */
export const selectRowsKernel = kernelSource("select rows", rowParams, [
  rowsFragment,
  fragment("join/partner-listed", { bindings: { partners: read() } }),
  ...selecting,
]);

/** Rows that a workgroup of `count partners` takes for each that others take. */
export const COUNT_ITEMS = 32;
export const countPartnersKernel = kernelSource("count partners", rowParams, [
  rowsFragment,
  rowCounters.control,
  fragment("join/count-partners", { bindings: { partners: read() } }),
]);

/** Notes which rows are partners: their words become 0. */
export const markRowsKernel = kernelSource("mark rows", rowParams, [
  ...eachRow,
  fragment("join/mark-rows", { bindings: { partners: read(), marks: readWrite("array<atomic<u32>>") } }),
]);

export const countUpKernel = kernelSource("count up", rowParams, [
  ...eachRow,
  fragment("join/count-up", { bindings: { numbers: readWrite() } }),
]);

/** A bitmap as a mask. */
export const flagsOfBitsKernel = kernelSource("flags of bits", rowParams, [
  ...eachRow,
  fragment("join/flags-of-bits", { bindings: { validity: read(), flags: readWrite() } }),
]);

const partTable = [
  fragment("table/hash"),
  rowCounters.control,
  fragment("partitioned/cas-seen"),
  fragment("join/part-table", {
    bindings: {
      buildItems: read("array<vec2u>"),
      buildStarts: read(),
      items: read("array<vec2u>"),
      partStarts: read(),
    },
    constants: [
      /** Slots of a workgroup's table, and the most build rows in it. */
      "SLOTS",
      "MOST_BUILDS",
      "INVOCATIONS",
      /** Keys have two words. */
      "WIDE_KEYS",
      /** Bits of a slot that number a row, and whether the others tell its key. */
      "NUMBER_BITS",
      "EXACT",
    ],
  }),
];
const partWords = fragment("join/part-words", { bindings: { buildWords: read(), words: read() } });

export const matchPartsKernel = kernelSource("match parts", reduceParams, [
  ...partTable,
  partWords,
  fragment("join/match-parts", { bindings: { partners: readWrite() } }),
]);

const joining = [
  ...partTable,
  fragment("reduce/keyed-hash"),
  fragment("join/join-parts", {
    bindings: { outKeys: readWrite(), outProbe: readWrite(), outBuild: readWrite() },
    constants: [
      /** Keys are asked for. */
      "KEYED",
      /** Words that go along with a row of either side, of those that are asked for. */
      "PROBE_WORDS",
      "BUILD_WORDS",
    ],
  }),
];
/** The rows of an inner join of parts; where no words lie beside their rows, with bindings that every GPU has. */
export const joinPartsKernels = {
  narrow: kernelSource("join parts", reduceParams, [...joining, fragment("join/no-part-words")]),
  wide: kernelSource("join parts", reduceParams, [...joining, partWords]),
};
