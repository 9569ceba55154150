/** Kernels of benchmarks: compiled from WGSL, bound to arrays, and dispatched over as many workgroups as there is work. */
import { type DeviceArray, EngineError } from "../src/index.js";

/** Workgroups of one dimension of a dispatch, on every device. */
const MOST_WORKGROUPS = 65_535;

// WebGPU's usage bits: browsers have them as globals, Node does not
export const MAP_READ = 0x1;
export const COPY_SRC = 0x4;
export const COPY_DST = 0x8;
export const UNIFORM = 0x40;
export const STORAGE = 0x80;
export const MAP_MODE_READ = 1;

/** Bindings of group 0 by number. */
export type Resources = Readonly<Record<number, GPUBufferBinding>>;

/** A kernel and what it works on. */
export interface BoundKernel {
  readonly pipeline: GPUComputePipeline;
  readonly bindings: GPUBindGroup;
}

/** What was compiled before: some drivers take a second for a kernel. */
const compiled = new WeakMap<GPUDevice, Map<string, Promise<GPUComputePipeline>>>();

/** Compiles one entry point of a source, once for a device. @throws GPUPipelineError where it does not compile. */
export function compile(
  gpu: GPUDevice,
  code: string,
  entryPoint: string,
  constants: Record<string, number>,
): Promise<GPUComputePipeline> {
  const known = compiled.get(gpu) ?? new Map<string, Promise<GPUComputePipeline>>();
  compiled.set(gpu, known);
  const name = JSON.stringify([entryPoint, constants, code]);
  const found = known.get(name);
  if (found) return found;
  const module = gpu.createShaderModule({ label: entryPoint, code });
  const compute = { module, entryPoint, constants };
  const pipeline = gpu.createComputePipelineAsync({ label: entryPoint, layout: "auto", compute });
  known.set(name, pipeline);
  return pipeline;
}

/** Connects a kernel with its bindings. */
export function bind(gpu: GPUDevice, pipeline: GPUComputePipeline, resources: Resources): BoundKernel {
  const entries = Object.entries(resources).map(([binding, resource]) => ({
    binding: Number(binding),
    resource,
  }));
  return { pipeline, bindings: gpu.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }) };
}

const BYTES = { u8: 1, u32: 4, i32: 4, f32: 4, u64: 8, i64: 8, f64: 8 };

/** All elements of a device array, in whole words. */
export function elementsOf({ buffer, byteOffset, length, type }: DeviceArray): GPUBufferBinding {
  if (buffer === undefined) throw new EngineError("This array is not on a GPU.");
  const bytes = length * BYTES[type];
  return { buffer, offset: byteOffset, size: Math.max(4, Math.ceil(bytes / 4) * 4) };
}

/** Records a dispatch of any number of workgroups; a kernel numbers them by `y * num_workgroups.x + x` and ends those beyond its work. */
export function dispatch(pass: GPUComputePassEncoder, kernel: BoundKernel, workgroups: number): void {
  pass.setPipeline(kernel.pipeline);
  pass.setBindGroup(0, kernel.bindings);
  const rows = Math.ceil(workgroups / MOST_WORKGROUPS);
  pass.dispatchWorkgroups(Math.ceil(workgroups / rows), rows);
}

/** Runs kernels after each other in one submission, and waits for the last. */
export async function runKernels(
  gpu: GPUDevice,
  work: readonly { kernel: BoundKernel; workgroups: number }[],
): Promise<void> {
  gpu.pushErrorScope("validation");
  const encoder = gpu.createCommandEncoder();
  for (const { kernel, workgroups } of work) {
    const pass = encoder.beginComputePass();
    dispatch(pass, kernel, workgroups);
    pass.end();
  }
  gpu.queue.submit([encoder.finish()]);
  const error = await gpu.popErrorScope();
  if (error) throw new EngineError(`A kernel of a benchmark was refused: ${error.message}`);
  await gpu.queue.onSubmittedWorkDone();
}
