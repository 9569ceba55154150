/** Erasing a chunk's keys. Loaded by the first erase. */
import type { BoundChunk } from "../../gpu/batch/bound-chunk.js";
import { kernelSource } from "../../gpu/kernel-source.js";
import { wgsl } from "../device/module-code.js";
import type { TableState } from "../table/table-state.js";
import { batched, changing, type TableKernels, tableParams } from "./direct-kernels.js";
import erase from "./erase.wgsl";
import { runOverChunk } from "./rounds.js";

export async function eraseChunk(state: TableState, chunk: BoundChunk): Promise<number> {
  const kernel = eraseKernel(state.sources);
  const run = { kernel, constants: {}, mask: chunk.mask, abortable: true };
  return (await runOverChunk(state, chunk, run)).erased;
}

function eraseKernel(sources: TableKernels) {
  const { probing, keyColumn, code } = sources;
  return sources.once("erase", () =>
    kernelSource("erase", tableParams, [probing, ...batched(keyColumn), ...changing(code), wgsl(erase)]),
  );
}
