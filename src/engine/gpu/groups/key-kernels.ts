/**
 * The kernels over a key column of integers: where its keys lie, and keys of fewer words; and what tells a key's place
 * among others.
 */

import { fragment, kernelSource, read, readWrite } from "../kernel-source.js";
import { denseParams, eachRow, rowCounters, rowsFragment } from "./row-kernels.js";

/** Places of keys. For modules with rows.wgsl. */
export const keyPlaces = fragment("groups/key-place", {
  bindings: { keys: read(), keyValidity: read() },
  constants: [
    /** Words of a key: 1 or 2. */
    "KEY_WORDS",
  ],
});

/** Tells where keys lie. */
export const keyRangeKernel = kernelSource("key range", denseParams, [
  rowsFragment,
  keyPlaces,
  rowCounters.control,
  fragment("groups/key-range"),
]);

/** Makes words of keys. */
export const narrowKeysKernel = kernelSource("narrow keys", denseParams, [
  ...eachRow,
  keyPlaces,
  fragment("groups/narrow-keys", { bindings: { narrowed: readWrite() } }),
]);
