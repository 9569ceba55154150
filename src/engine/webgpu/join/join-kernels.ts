/** The kernels of a join: the probe side finds its groups, and pairs are written. */
import { fragment, kernelSource, read, readWrite } from "../device/kernel-source.js";
import { finding, rowParams, rowsFragment } from "../groups/row-kernels.js";
import expand from "./expand.wgsl";
import matchCounts from "./match-counts.wgsl";
import probe from "./probe.wgsl";
import probeUnique from "./probe-unique.wgsl";

/** Writes the pairs of a side whose partners are groups of one row. */
export const probeUniqueKernel = kernelSource("probe unique", rowParams, [
  ...finding,
  fragment(probeUnique, { bindings: { outBuild: readWrite(), outProbe: readWrite() } }),
]);

/** Finds each row's group, and counts pairs. */
export const probeKernel = kernelSource("probe", rowParams, [
  ...finding,
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
  fragment(expand, {
    bindings: {
      pairStarts: read(),
      matches: read("array<vec2u>"),
      starts: read(),
      members: read(),
      outBuild: readWrite(),
      outProbe: readWrite(),
    },
  }),
]);
