/** The kernels of joins whose keys lie close together: an array over the keys tells the build row of each, or how many there are. */

import countPlaced from "../../webgpu/wgsl/join/count-placed.wgsl";
import countPlaces from "../../webgpu/wgsl/join/count-places.wgsl";
import denseMatches from "../../webgpu/wgsl/join/dense-matches.wgsl";
import densePartners from "../../webgpu/wgsl/join/dense-partners.wgsl";
import partnerPlaced from "../../webgpu/wgsl/join/partner-placed.wgsl";
import placeRows from "../../webgpu/wgsl/join/place-rows.wgsl";
import { keyPlaces } from "../groups/key-kernels.js";
import { denseParams, eachRow, rowCounters, rowsFragment } from "../groups/row-kernels.js";
import { totalling } from "../groups/totals.js";
import { fragment, kernelSource, read, readWrite } from "../kernel-source.js";
import { selecting } from "./join-kernels.js";

const partners = fragment(partnerPlaced, { bindings: { rowsAt: read() } });

/** Puts build rows at their places. */
export const placeRowsKernel = kernelSource("place rows", denseParams, [
  ...eachRow,
  keyPlaces,
  fragment(placeRows, { bindings: { rowsAt: readWrite("array<atomic<u32>>") } }),
]);

/** Four places each, that an invocation of `countPlacedKernel` takes. */
export const COUNTED_ITEMS = 4;
/** Counts places that have a row. */
export const countPlacedKernel = kernelSource("count placed", denseParams, [
  rowsFragment,
  rowCounters.control,
  fragment(countPlaced, { bindings: { rowsAt: read("array<vec4u>") } }),
]);

/** The partner of every probe row. */
export const densePartnersKernel = kernelSource("dense partners", denseParams, [
  ...eachRow,
  keyPlaces,
  partners,
  fragment(densePartners, { bindings: { partners: readWrite() } }),
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
  fragment(countPlaces, {
    bindings: { sizes: readWrite("array<atomic<u32>>"), leaders: readWrite(), ranks: readWrite() },
  }),
]);

/** Finds each probe row's place, and counts pairs. */
export const denseMatchesKernel = kernelSource("dense matches", denseParams, [
  rowsFragment,
  keyPlaces,
  rowCounters.control,
  totalling,
  fragment(denseMatches, { bindings: { sizes: read(), matches: readWrite("array<vec2u>") } }),
]);
