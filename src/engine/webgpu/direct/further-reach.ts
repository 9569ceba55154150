/**
 * Batch kernels for tables of several windows, probes that look at several slots a step, and entries in order. Loaded
 * by the first such.
 */
import { getOrMake } from "../../gpu/get-or-make.js";
import { wgsl } from "../device/module-code.js";
import { type BatchKernel, plainReach, reachConstants } from "./direct-kernels.js";
import group from "./group.wgsl";
import windows from "./windows.wgsl";

const reach = wgsl(`${windows}\n${group}`, { constants: reachConstants });
const known = new WeakMap<BatchKernel, BatchKernel>();

/** A kernel with what reaches all in the place of plainReach. */
export function reaching(kernel: BatchKernel): BatchKernel {
  return getOrMake(known, kernel, () => ({
    ...kernel,
    fragments: kernel.fragments.map((each) => (each === plainReach ? reach : each)),
  }));
}
