/**
 * The mask of a batch, for kernels that ask of one element at a time. Those of direct/batch.wgsl have it in their loop
 * over elements.
 */
import { fragment, read } from "./kernel-source.js";

/** isSelected(element), for modules with params.maskShift. */
export const selected = fragment("table/selected", {
  bindings: { mask: read() },
  constants: [
    /** Elements whose byte in `mask` is 0 are left out. */
    "MASKED",
  ],
});
