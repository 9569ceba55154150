/** Runs kernels that make columns on a GPU, or judge answers there: at 2^27 elements the host would take minutes. */
import type { Device, DeviceArray } from "../src/index.js";
import common from "./columns.wgsl";
import { bind, compile, elementsOf, type Resources, runKernels } from "./kernel.js";

const WORKGROUP = 256;
const MOST_WORKGROUPS = 2 ** 15;

/** How many elements are wrong, and the place of the first. */
export interface Verdict {
  readonly wrong: number;
  readonly first: number;
}

type Constants = Readonly<Record<string, number>>;

export interface ColumnKernels {
  /** A column of so many elements, which an entry point writes to binding 0. */
  make<T extends "u8" | "u32" | "u64">(
    type: T,
    entryPoint: string,
    constants: Constants,
    elements: number,
  ): Promise<DeviceArray<T>>;
  /** What an entry point says about so many elements. */
  judge(entryPoint: string, constants: Constants, elements: number, resources: Resources): Promise<Verdict>;
  destroy(): void;
}

/**
 * Opens kernels on a device that has a GPU.
 * @param source stands behind columns.wgsl
 * @param shared constants of all entry points
 */
export async function openColumnKernels(
  device: Device,
  source: string,
  shared: Constants,
): Promise<ColumnKernels> {
  const gpu = device.gpuDevice as GPUDevice;
  const code = `${common}\n${source}`;
  const verdict = await device.allocate("u32", 2);
  const run = async (entryPoint: string, constants: Constants, elements: number, resources: Resources) => {
    const pipeline = await compile(gpu, code, entryPoint, { ...shared, COUNT: elements, ...constants });
    const workgroups = Math.min(MOST_WORKGROUPS, Math.ceil(elements / WORKGROUP));
    await runKernels(gpu, [{ kernel: bind(gpu, pipeline, resources), workgroups }]);
  };
  return {
    async make(type, entryPoint, constants, elements) {
      const array = await device.allocate(type, elements);
      await run(entryPoint, constants, elements, { 0: elementsOf(array) });
      return array;
    },
    async judge(entryPoint, constants, elements, resources) {
      const { buffer, offset = 0 } = elementsOf(verdict);
      gpu.queue.writeBuffer(buffer, offset, Uint32Array.of(0, 0xffffffff));
      await run(entryPoint, constants, elements, { ...resources, 3: elementsOf(verdict) });
      const [wrong, first] = await verdict.read();
      return { wrong, first };
    },
    destroy: () => verdict.destroy(),
  };
}
