/** Kernels of the tests' own: one dispatch of a module with automatic layout, on a device's GPU. */
import { scalarBytes } from "../../../../src/engine/scalars.js";
import type { Device, DeviceArray } from "../../../../src/index.js";

/** The GPU of a device of the webgpu engine. */
export function gpuOf(device: Device): GPUDevice {
  const { gpuDevice } = device;
  if (gpuDevice === undefined) throw new Error("not a GPU device");
  return gpuDevice;
}

/** A compiled module with the entry point `main`. Warnings count as errors. */
export async function computePipeline(
  gpu: GPUDevice,
  code: string,
  constants: Record<string, number> = {},
): Promise<GPUComputePipeline> {
  const module = gpu.createShaderModule({ code });
  const { messages } = await module.getCompilationInfo();
  const complaints = messages.map(({ lineNum, message }) => `${lineNum}: ${message}`);
  if (complaints.length > 0) throw new Error(`${complaints.join("\n")}\nin\n${code}`);
  return gpu.createComputePipelineAsync({ layout: "auto", compute: { module, constants } });
}

/** Bind group entries for device arrays, numbered from 0. */
export function arrayEntries(arrays: readonly DeviceArray[]): GPUBindGroupEntry[] {
  return arrays.map(({ buffer, byteOffset, length, type }, binding) => ({
    binding,
    resource: { buffer: buffer as GPUBuffer, offset: byteOffset, size: length * scalarBytes[type] },
  }));
}

export function bindGroup(
  gpu: GPUDevice,
  pipeline: GPUComputePipeline,
  group: number,
  entries: GPUBindGroupEntry[],
): GPUBindGroup {
  return gpu.createBindGroup({ layout: pipeline.getBindGroupLayout(group), entries });
}

/** Submits one dispatch. @throws the validation error, if it has one. */
export async function dispatch(
  gpu: GPUDevice,
  pipeline: GPUComputePipeline,
  groups: readonly GPUBindGroup[],
  workgroups: number,
): Promise<void> {
  gpu.pushErrorScope("validation");
  const encoder = gpu.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  groups.forEach((group, i) => {
    pass.setBindGroup(i, group);
  });
  pass.dispatchWorkgroups(workgroups);
  pass.end();
  gpu.queue.submit([encoder.finish()]);
  const error = await gpu.popErrorScope();
  if (error !== null) throw new Error(error.message);
}
