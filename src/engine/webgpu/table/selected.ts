/** The mask of a batch, for kernels that ask of one element at a time. Those of direct/batch.wgsl have it in their loop over elements. */
import { fragment, read } from "../../gpu/kernel-source.js";
import code from "./selected.wgsl";

/** isSelected(element), for modules with params.maskShift. */
export const selected = fragment(code, {
  bindings: { mask: read() },
  constants: [
    /** Elements whose byte in `mask` is 0 are left out. */
    "MASKED",
  ],
});
