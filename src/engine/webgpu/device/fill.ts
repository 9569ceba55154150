/** Filling GPU memory with one word. */

import code from "./fill.wgsl";
import type { Gpu } from "./gpu.js";
import { type Kernels, MAX_WORKGROUPS, type Range } from "./kernel.js";
import { fragment, kernelSource, readWrite } from "./kernel-source.js";

const source = kernelSource(
  "fill",
  [],
  [fragment(code, { bindings: { words: readWrite("array<vec4u>") }, constants: ["WORD"] })],
);

/** What records the writing of `word` all over a range, which may be larger than a binding. Its size is a multiple of 16 bytes. */
export async function filling(
  gpu: Gpu,
  kernels: Kernels,
  word: number,
): Promise<(encoder: GPUCommandEncoder, range: Range) => void> {
  const kernel = await kernels.compile(source, { WORD: word });
  const most = Math.floor(gpu.device.limits.maxStorageBufferBindingSize / 256) * 256;
  return (encoder, { buffer, offset: start = 0, size: bytes = buffer.size - start }) => {
    for (let at = 0; at < bytes; at += most) {
      const size = Math.min(most, bytes - at);
      const workgroups = Math.min(MAX_WORKGROUPS, Math.ceil(size / 16 / 256));
      kernel.record(encoder, { words: { buffer, offset: start + at, size } }, {}, workgroups);
    }
  };
}
