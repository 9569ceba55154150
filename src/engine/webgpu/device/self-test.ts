/**
 * What an engine checks before it answers anything: that arrays in workgroup memory have the length that they are declared with, and
 * that writes to them arrive. On an implementation that gets this wrong every table would be silently wrong, so opening fails.
 */
import { BackendUnavailableError } from "../../../errors.js";
import type { Gpu } from "./gpu.js";
import { STORAGE_USAGE } from "./gpu-flags.js";
import type { Kernels } from "./kernel.js";
import { fragment, kernelSource, readWrite } from "./kernel-source.js";
import code from "./self-test.wgsl";

/** Invocations of the kernel, and words of workgroup memory that it goes through. */
const WORKGROUP = 64;
const WORDS = 1000;

const source = kernelSource(
  "self-test",
  [],
  [fragment(code, { bindings: { results: readWrite() }, constants: ["WORKGROUP", "WORDS"] })],
);

/** @throws BackendUnavailableError when workgroup memory does not hold what is written to it */
export async function checkWorkgroupMemory(gpu: Gpu, kernels: Kernels): Promise<void> {
  const kernel = await kernels.compile(source, { WORKGROUP, WORDS });
  const wanted = { bytes: WORKGROUP * 4, usage: STORAGE_USAGE };
  const buffer = await gpu.memory.acquire("self-test", wanted);
  const into = new Uint8Array(WORKGROUP * 4);
  try {
    const record = (encoder: GPUCommandEncoder) => kernel.record(encoder, { results: { buffer } }, {}, 1);
    await gpu.submit("self-test", record, [{ buffer, offset: 0, into }]);
  } finally {
    gpu.memory.release(buffer);
  }
  if (new Uint32Array(into.buffer).every((right) => right === 1)) return;
  const reason = "this WebGPU implementation loses writes to workgroup memory";
  const fix = "Use another browser or driver, or the cpu backend.";
  throw new BackendUnavailableError("webgpu", [{ backend: "webgpu", reason }], fix);
}
