/**
 * What has not run on a GPU in its present form, but on the stand-in: rows, lists and dictionaries on the device, and
 * large batches sorted by partition unless a call asks for it. On a GPU they are left out, until a run of the
 * conformance suite and of `bench/` on one has shown them (docs/nvidia-servers.md); WARPMAP_CUDA_UNTRIED=1 is for that
 * run.
 */
import type { GpuTraits } from "warpmap/engine";

/** Whether to use it. */
export function usesUntried({ isEmulated }: Pick<GpuTraits, "isEmulated">): boolean {
  return isEmulated || process.env.WARPMAP_CUDA_UNTRIED === "1";
}
