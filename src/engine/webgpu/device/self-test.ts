/**
 * What an engine checks before it answers anything: that arrays in workgroup memory have the length that they are
 * declared with, and that writes to them arrive. On an implementation that gets this wrong every table would be
 * silently wrong, so opening fails.
 */
import { BackendUnavailableError } from "../../../errors.js";
import { kernelSource, readWrite } from "../../gpu/kernel-source.js";
import type { GpuRuntime, Recorder } from "../../gpu/runtime.js";
import { wgsl } from "./module-code.js";
import code from "./self-test.wgsl";

/** Invocations of the kernel, and words of workgroup memory that it goes through. */
const WORKGROUP = 64;
const WORDS = 1000;

const source = kernelSource(
  "self-test",
  [],
  [wgsl(code, { bindings: { results: readWrite() }, constants: ["WORKGROUP", "WORDS"] })],
);

/** @throws BackendUnavailableError when workgroup memory does not hold what is written to it */
export async function checkWorkgroupMemory(gpu: GpuRuntime): Promise<void> {
  const kernel = await gpu.compile(source, { WORKGROUP, WORDS });
  const wanted = { bytes: WORKGROUP * 4 };
  const buffer = await gpu.memory.acquire("self-test", wanted);
  const into = new Uint8Array(WORKGROUP * 4);
  try {
    const record = (recorder: Recorder) => recorder.dispatch(kernel, { results: { buffer } }, {}, 1);
    await gpu.submit("self-test", record, [{ buffer, offset: 0, into }]);
  } finally {
    gpu.memory.release(buffer);
  }
  if (new Uint32Array(into.buffer).every((right) => right === 1)) return;
  const reason = "this WebGPU implementation loses writes to workgroup memory";
  const fix = "Use another browser or driver, or the cpu backend.";
  throw new BackendUnavailableError("webgpu", [{ backend: "webgpu", reason }], fix);
}
