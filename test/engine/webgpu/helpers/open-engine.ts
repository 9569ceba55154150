/** The webgpu engine with options that users do not have, on a GPUDevice of the test's or one of its own. */
import { describeDevice, findAdapter, openGpu } from "../../../../src/engine/webgpu/device/adapter.js";
import type { WebgpuOptions as GpuRequest } from "../../../../src/engine/webgpu/native-types.js";
import {
  openWebgpuEngine,
  type WebgpuEngine,
  type WebgpuOptions,
} from "../../../../src/engine/webgpu/webgpu-engine.js";

export async function openEngine(options: GpuRequest & WebgpuOptions): Promise<WebgpuEngine> {
  const { gpuDevice } = options;
  const gpu = gpuDevice ? describeDevice(gpuDevice) : await openGpu(await findAdapter(options));
  return (await openWebgpuEngine(gpu, options)) as WebgpuEngine;
}
