/** Runs kernels that make columns on a GPU, or judge answers there: at 2^27 elements the host would take minutes. */
import type { Device, DeviceArray } from "../src/index.js";
import common from "./columns.wgsl";
import { bind, COPY_DST, compile, elementsOf, type Resources, runKernels, UNIFORM } from "./kernel.js";

const WORKGROUP = 256;
const MOST_WORKGROUPS = 2 ** 15;

/** How many elements are wrong, and the place of the first. */
export interface Verdict {
  readonly wrong: number;
  readonly first: number;
}

/** Parameters of all kernels: the elements of the column. */
const COLUMN_PARAMS = ["first", "count"] as const;
/** The binding of the parameters: columns.wgsl. */
const PARAMS_BINDING = 6;

/** Values of parameters; those left out are 0. */
type Params<P extends string> = { readonly [N in P | "first"]?: number };

export interface ColumnKernels<P extends string> {
  /** A column of so many elements, which an entry point writes to binding 0. */
  make<T extends "u8" | "u32" | "u64">(
    type: T,
    entryPoint: string,
    params: Params<P>,
    elements: number,
  ): Promise<DeviceArray<T>>;
  /** What an entry point says about so many elements. */
  judge(entryPoint: string, params: Params<P>, elements: number, resources: Resources): Promise<Verdict>;
  destroy(): void;
}

/**
 * Opens kernels on a device that has a GPU. A device compiles an entry point once, whatever its parameters: they are uniforms.
 * @param source stands behind columns.wgsl
 * @param names of the parameters that the source has besides `first` and `count`
 * @param shared parameters of all entry points
 */
export async function openColumnKernels<P extends string>(
  device: Device,
  source: string,
  names: readonly P[],
  shared: Params<P>,
): Promise<ColumnKernels<P>> {
  const gpu = device.gpuDevice as GPUDevice;
  const fields = [...COLUMN_PARAMS, ...names];
  const struct = `struct Params { ${fields.map((name) => `${name}: u32`).join(", ")} }`;
  const code = `${struct}\n${common}\n${source}`;
  const verdict = await device.allocate("u32", 2);
  const buffer = gpu.createBuffer({ size: fields.length * 4, usage: UNIFORM | COPY_DST });
  const run = async (entryPoint: string, params: Params<P>, count: number, resources: Resources) => {
    const pipeline = await compile(gpu, code, entryPoint, {});
    const given: { readonly [N in P | "first" | "count"]?: number } = { ...shared, ...params, count };
    gpu.queue.writeBuffer(
      buffer,
      0,
      Uint32Array.from(fields, (name) => given[name] ?? 0),
    );
    const workgroups = Math.min(MOST_WORKGROUPS, Math.ceil(count / WORKGROUP));
    const kernel = bind(gpu, pipeline, { ...resources, [PARAMS_BINDING]: { buffer } });
    await runKernels(gpu, [{ kernel, workgroups }]);
  };
  return {
    async make(type, entryPoint, params, elements) {
      const array = await device.allocate(type, elements);
      await run(entryPoint, params, elements, { 0: elementsOf(array) });
      return array;
    },
    async judge(entryPoint, params, elements, resources) {
      const { buffer, offset = 0 } = elementsOf(verdict);
      gpu.queue.writeBuffer(buffer, offset, Uint32Array.of(0, 0xffffffff));
      await run(entryPoint, params, elements, { ...resources, 3: elementsOf(verdict) });
      const [wrong, first] = await verdict.read();
      return { wrong, first };
    },
    destroy() {
      verdict.destroy();
      buffer.destroy();
    },
  };
}
