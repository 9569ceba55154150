/** The kernels over a key column of integers: where its keys lie, and keys of fewer words; and what tells a key's place among others. */

import keyPlace from "../../webgpu/wgsl/groups/key-place.wgsl";
import keyRange from "../../webgpu/wgsl/groups/key-range.wgsl";
import narrowKeys from "../../webgpu/wgsl/groups/narrow-keys.wgsl";
import { fragment, kernelSource, read, readWrite } from "../kernel-source.js";
import { denseParams, eachRow, rowCounters, rowsFragment } from "./row-kernels.js";

/** Places of keys. For modules with rows.wgsl. */
export const keyPlaces = fragment(keyPlace, {
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
  fragment(keyRange),
]);

/** Makes words of keys. */
export const narrowKeysKernel = kernelSource("narrow keys", denseParams, [
  ...eachRow,
  keyPlaces,
  fragment(narrowKeys, { bindings: { narrowed: readWrite() } }),
]);
