/** GPUDevices as a caller of warpmap opens them: warpmap's own code is not involved. */
import { create } from "webgpu";
import { onSoftwareGpu } from "../../../conformance/helpers/device.js";

// Dawn ends with the last reference to it
const gpu = create(
  onSoftwareGpu ? ["disable-dawn-features=use_vulkan_zero_initialize_workgroup_memory_extension"] : [],
);

/** A device with WebGPU's default limits, which are far below most adapters'. */
export async function ownGpuDevice(descriptor: GPUDeviceDescriptor = {}): Promise<GPUDevice> {
  const adapter = await gpu.requestAdapter({ forceFallbackAdapter: onSoftwareGpu });
  if (adapter === null) throw new Error("no adapter");
  return adapter.requestDevice(descriptor);
}

let shared: Promise<GPUDevice> | undefined;

/**
 * One `ownGpuDevice` for all tests of this process that leave it open, so that kernels which their engines have in common are
 * compiled once.
 */
export function sharedGpuDevice(): Promise<GPUDevice> {
  shared ??= ownGpuDevice().then(keepPipelines);
  return shared;
}

/** The device, whose pipelines stay: as long as one is in use, Dawn answers with it to whoever asks its device for the same. */
function keepPipelines(device: GPUDevice): GPUDevice {
  const compile = device.createComputePipelineAsync.bind(device);
  const kept = new Set<GPUComputePipeline>();
  device.createComputePipelineAsync = async (descriptor) => {
    const pipeline = await compile(descriptor);
    kept.add(pipeline);
    return pipeline;
  };
  return device;
}

/** A buffer of the caller's own with these bytes at `byteOffset`. */
export function ownBuffer(
  device: GPUDevice,
  data: ArrayBufferView<ArrayBuffer>,
  byteOffset: number,
  usage: number,
): GPUBuffer {
  const size = Math.ceil((byteOffset + data.byteLength) / 4) * 4;
  const buffer = device.createBuffer({ size, usage, mappedAtCreation: true });
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  new Uint8Array(buffer.getMappedRange()).set(bytes, byteOffset);
  buffer.unmap();
  return buffer;
}

/** The device, but for some of its members. */
export function withMembers(device: GPUDevice, members: Partial<GPUDevice>): GPUDevice {
  return overlaid(device, members);
}

/** The device, which says that a binding of storage has no more than so many bytes. */
export function withSmallBindings(device: GPUDevice, maxStorageBufferBindingSize: number): GPUDevice {
  return withMembers(device, { limits: overlaid(device.limits, { maxStorageBufferBindingSize }) });
}

/** An object of WebGPU, but for some of its members: its own are bound to it, which is where they work. */
function overlaid<T extends object>(object: T, members: Partial<T>): T {
  return new Proxy(object, {
    get(target, name) {
      const member = members[name as keyof T] as unknown;
      if (member !== undefined) return member;
      const value = target[name as keyof T] as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
