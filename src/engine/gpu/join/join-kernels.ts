/** The kernels of joins: the probe side finds its groups, pairs are written, and rows are listed by whether they match. */

import type { KernelOverrides } from "../../webgpu/direct/direct-kernels.js";
import casSeen from "../../webgpu/partitioned/cas-seen.wgsl";
import hash from "../../webgpu/table/hash.wgsl";
import countPartners from "../../webgpu/wgsl/join/count-partners.wgsl";
import countUp from "../../webgpu/wgsl/join/count-up.wgsl";
import expand from "../../webgpu/wgsl/join/expand.wgsl";
import flagsOfBits from "../../webgpu/wgsl/join/flags-of-bits.wgsl";
import markRows from "../../webgpu/wgsl/join/mark-rows.wgsl";
import matchCounts from "../../webgpu/wgsl/join/match-counts.wgsl";
import matchParts from "../../webgpu/wgsl/join/match-parts.wgsl";
import partnerListed from "../../webgpu/wgsl/join/partner-listed.wgsl";
import partners from "../../webgpu/wgsl/join/partners.wgsl";
import probe from "../../webgpu/wgsl/join/probe.wgsl";
import probeUnique from "../../webgpu/wgsl/join/probe-unique.wgsl";
import selectRows from "../../webgpu/wgsl/join/select-rows.wgsl";
import { getOrMake } from "../get-or-make.js";
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

/** Writes the pairs of a side whose partners are groups of one row. */
export const probeUniqueKernel = kernelSource("probe unique", rowParams, [
  ...finding,
  fragment(probeUnique, { bindings: { outBuild: readWrite(), outProbe: readWrite() } }),
]);

/** Finds each row's group, and counts pairs. */
export const probeKernel = kernelSource("probe", rowParams, [
  ...finding,
  totalling,
  fragment(probe, { bindings: { sizes: read(), matches: readWrite("array<vec2u>") } }),
]);

/** The number of pairs of every row of the probe side, as a column to scan. */
export const matchCountsKernel = kernelSource("match counts", rowParams, [
  rowsFragment,
  fragment(matchCounts, { bindings: { matches: read("array<vec2u>"), counts: readWrite() } }),
]);

/** Writes pairs, an invocation each. */
export const expandKernel = kernelSource("expand", rowParams, [
  rowsFragment,
  searching,
  fragment(expand, {
    bindings: {
      matches: read("array<vec2u>"),
      starts: read(),
      members: read(),
      outBuild: readWrite(),
      outProbe: readWrite(),
    },
  }),
]);

/** The partner of every probe row. */
export const partnersKernel = kernelSource("partners", rowParams, [
  ...finding,
  eachElement,
  fragment(partners, { bindings: { partners: readWrite() } }),
]);

/** Rows that a workgroup of kernels that select takes for each that others take. */
export const SELECT_ITEMS = 4;
/** Lists the rows that have a partner, or those that have none. For modules with partnerAt (the partner of a row). */
export const selecting = [
  rowCounters.control,
  fragment(selectRows, {
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
  fragment(partnerListed, { bindings: { partners: read() } }),
  ...selecting,
]);

/** Rows that a workgroup of `count partners` takes for each that others take. */
export const COUNT_ITEMS = 32;
/** Counts the rows that have a partner. */
export const countPartnersKernel = kernelSource("count partners", rowParams, [
  rowsFragment,
  rowCounters.control,
  fragment(countPartners, { bindings: { partners: read() } }),
]);

/** Notes which rows are partners: their words become 0. */
export const markRowsKernel = kernelSource("mark rows", rowParams, [
  ...eachRow,
  fragment(markRows, { bindings: { partners: read(), marks: readWrite("array<atomic<u32>>") } }),
]);

/** The numbers of rows. */
export const countUpKernel = kernelSource("count up", rowParams, [
  ...eachRow,
  fragment(countUp, { bindings: { numbers: readWrite() } }),
]);

/** A bitmap as a mask. */
export const flagsOfBitsKernel = kernelSource("flags of bits", rowParams, [
  ...eachRow,
  fragment(flagsOfBits, { bindings: { validity: read(), flags: readWrite() } }),
]);

const makeMatchParts = (casCode: string) =>
  kernelSource("match parts", reduceParams, [
    fragment(hash),
    rowCounters.control,
    fragment(casCode),
    fragment(matchParts, {
      bindings: {
        buildItems: read("array<vec2u>"),
        buildWords: read(),
        buildStarts: read(),
        items: read("array<vec2u>"),
        words: read(),
        partStarts: read(),
        partners: readWrite(),
      },
      constants: [
        /** Slots of a workgroup's table, a power of two, and the most build rows in it. */
        "SLOTS",
        "MOST_BUILDS",
        "INVOCATIONS",
        /** Keys have two words. */
        "WIDE_KEYS",
      ],
    }),
  ]);
const matchPartsKernels = new Map<string, ReturnType<typeof makeMatchParts>>();

/** The kernel `match parts`: the partners of the probe rows of parts. */
export function matchPartsKernel({ casSeen: code = casSeen }: KernelOverrides) {
  return getOrMake(matchPartsKernels, code, () => makeMatchParts(code));
}
