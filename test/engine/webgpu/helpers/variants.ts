/** Engines that differ in what tests put in place of their kernels and limits, and share a GPUDevice. */
import type { WebgpuEngine } from "../../../../src/engine/webgpu/webgpu-engine.js";
import { sharedDevice } from "../../../conformance/helpers/device.js";
import { openEngine } from "./open-engine.js";

/** Engines stay: as long as a pipeline is in use, Dawn answers with it to whoever asks its device for the same. */
const engines: Promise<WebgpuEngine>[] = [];

/**
 * An engine on the device that all tests of this process share: kernels that they have in common are compiled once.
 * @param seen what the engine sees of the device.
 */
export async function openVariant(
  options: Omit<Parameters<typeof openEngine>[0], "gpuDevice">,
  seen = (gpuDevice: GPUDevice) => gpuDevice,
): Promise<WebgpuEngine> {
  const gpuDevice = (await sharedDevice()).gpuDevice as GPUDevice;
  const engine = openEngine({ seed: 1, ...options, gpuDevice: seen(gpuDevice) });
  engines.push(engine);
  return engine;
}
