/**
 * The kernels of joins whose keys lie close together: an array over the keys tells the build row of each, or how many
 * there are.
 */
import { keyPlaces } from "../groups/key-kernels.js";
import { denseParams, eachRow, rowCounters, rowsFragment } from "../groups/row-kernels.js";
import { totalling } from "../groups/totals.js";
import { fragment, kernelSource, read, readWrite } from "../kernel-source.js";
import { selecting } from "./join-kernels.js";

const partners = fragment("join/partner-placed", { bindings: { rowsAt: read() } });

export const placeRowsKernel = kernelSource("place rows", denseParams, [
  ...eachRow,
  keyPlaces,
  fragment("join/place-rows", { bindings: { rowsAt: readWrite("array<atomic<u32>>") } }),
]);

/** Four places each, that an invocation of `countPlacedKernel` takes. */
export const COUNTED_ITEMS = 4;
/** Counts places that have a row. */
export const countPlacedKernel = kernelSource("count placed", denseParams, [
  rowsFragment,
  rowCounters.control,
  fragment("join/count-placed", { bindings: { rowsAt: read("array<vec4u>") } }),
]);

export const densePartnersKernel = kernelSource("dense partners", denseParams, [
  ...eachRow,
  keyPlaces,
  partners,
  fragment("join/dense-partners", { bindings: { partners: readWrite() } }),
]);

/** Lists the probe rows that have a partner, or those that have none. */
export const denseSelectKernel = kernelSource("select by place", denseParams, [
  rowsFragment,
  keyPlaces,
  partners,
  ...selecting,
]);

/** Counts the build rows of places. */
export const countPlacesKernel = kernelSource("count places", denseParams, [
  ...eachRow,
  keyPlaces,
  fragment("join/count-places", {
    bindings: { sizes: readWrite("array<atomic<u32>>"), leaders: readWrite(), ranks: readWrite() },
  }),
]);

/** Finds each probe row's place, and counts pairs. */
export const denseMatchesKernel = kernelSource("dense matches", denseParams, [
  rowsFragment,
  keyPlaces,
  rowCounters.control,
  totalling,
  fragment("join/dense-matches", { bindings: { sizes: read(), matches: readWrite("array<vec2u>") } }),
]);
