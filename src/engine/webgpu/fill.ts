/** Filling GPU memory with one word. */
import type { Gpu } from "./gpu.js";
import { type KernelSource, type Kernels, MAX_WORKGROUPS, type Range } from "./kernel.js";
import code from "./kernels/fill.wgsl";

const source: KernelSource = { label: "fill", code: [code], bindings: ["storage"] };

/** Writes `word` all over a range whose size is a multiple of 16 bytes. */
export async function fill(gpu: Gpu, kernels: Kernels, range: Range, word: number): Promise<void> {
  const kernel = await kernels.compile(source, { WORD: word });
  const bytes = range.size ?? range.buffer.size;
  const workgroups = Math.min(MAX_WORKGROUPS, Math.ceil(bytes / 16 / 256));
  await gpu.submit("fill", (encoder) => kernel.record(encoder, [range], null, workgroups));
}
