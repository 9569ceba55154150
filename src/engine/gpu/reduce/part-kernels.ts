/**
 * The kernels that bring rows into the order of their keys' parts, and sum up each part's groups:
 * see row-parts.ts and sum-parts.ts.
 */

import type { KernelOverrides } from "../../webgpu/direct/direct-kernels.js";
import casSeen from "../../webgpu/partitioned/cas-seen.wgsl";
import hash from "../../webgpu/table/hash.wgsl";
import partItems from "../../webgpu/wgsl/reduce/part-items.wgsl";
import putPartItem from "../../webgpu/wgsl/reduce/put-part-item.wgsl";
import splitParts from "../../webgpu/wgsl/reduce/split-parts.wgsl";
import splitRows from "../../webgpu/wgsl/reduce/split-rows.wgsl";
import sumParts from "../../webgpu/wgsl/reduce/sum-parts.wgsl";
import values from "../../webgpu/wgsl/reduce/values.wgsl";
import { getOrMake } from "../get-or-make.js";
import { reduceParams, rowCounters } from "../groups/row-kernels.js";
import { fragment, kernelSource, read, readWrite } from "../kernel-source.js";
import { atomics, mixedKeys, tiles, tilesOfRows } from "./reduce-kernels.js";

const starts = fragment(partItems, { bindings: { partStarts: read() } });
const splitting = [
  starts,
  fragment(putPartItem, {
    bindings: { cursors: atomics(), items: readWrite("array<vec2u>"), words: readWrite() },
    constants: [
      /** Rows have values. */
      "VALUED",
    ],
  }),
];

const makeSplitRows = (subgroups: boolean) =>
  kernelSource("split rows", reduceParams, [
    ...mixedKeys,
    ...tilesOfRows(subgroups),
    ...splitting,
    fragment(values, { bindings: { data: read(), validity: read() } }),
    fragment(splitRows, {
      constants: [
        /** Values are of one word: reading them takes no branch, so that many are on their way at once. */
        "WHOLE",
      ],
    }),
  ]);
/** Brings rows into the order of parts. */
export const splitRowsKernels = { subgroups: makeSplitRows(true), plain: makeSplitRows(false) };

const makeSplitParts = (subgroups: boolean) =>
  kernelSource("split parts", reduceParams, [
    ...tiles(subgroups),
    ...splitting,
    fragment(splitParts, { bindings: { splitItems: read("array<vec2u>"), splitWords: read() } }),
  ]);
/** Brings rows of parts into the order of smaller ones. */
export const splitPartsKernels = { subgroups: makeSplitParts(true), plain: makeSplitParts(false) };

const makeSumParts = (casCode: string) =>
  kernelSource("sum parts", reduceParams, [
    fragment(hash),
    rowCounters.control,
    starts,
    fragment(casCode),
    fragment(sumParts, {
      bindings: {
        items: read("array<vec2u>"),
        words: read(),
        counts: readWrite(),
        firsts: readWrite(),
        sums: readWrite("array<vec4u>"),
      },
      constants: [
        /** Slots of a workgroup's table, a power of two; those of sums, or one. */
        "SLOTS",
        "SUMMED_SLOTS",
        "INVOCATIONS",
        "VALUED",
      ],
    }),
  ]);
const sumPartsKernels = new Map<string, ReturnType<typeof makeSumParts>>();

/** The kernel `sum parts`: groups of parts, their rows and sums. */
export function sumPartsKernel({ casSeen: code = casSeen }: KernelOverrides) {
  return getOrMake(sumPartsKernels, code, () => makeSumParts(code));
}
