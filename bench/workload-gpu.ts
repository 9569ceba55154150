/** A workload's columns made on a GPU, and answers about them checked there: at 2^27 keys the host would take minutes. */
import type { Device, DeviceArray } from "../src/index.js";
import { type BoundKernel, bind, compile, elementsOf, type Resources, runKernels } from "./kernel.js";
import type { KeyColumn, Workload } from "./static-map-workload.js";
import source from "./workload.wgsl";

const COLUMNS: Readonly<Record<KeyColumn, number>> = { keys: 0, lookups: 1, absent: 2, half: 3 };

/** Which keys below `size` a map has: by the number of the key. */
export type Present = "none" | "even" | "all";
const PRESENT: Readonly<Record<Present, number>> = { none: 0, even: 1, all: 2 };

const WORKGROUP = 256;
const MOST_WORKGROUPS = 2 ** 15;

/** How many elements are wrong, and the place of the first. */
export interface Verdict {
  readonly wrong: number;
  readonly first: number;
}

export interface GpuWorkload {
  /** Elements `first` to `first + count` of a column of keys. */
  column(column: KeyColumn, first?: number, count?: number): Promise<DeviceArray<"u32">>;
  /** The numbers from `first` on: the values of keys. */
  numbers(first?: number, count?: number): Promise<DeviceArray<"u32">>;
  odd(): Promise<DeviceArray<"u8">>;
  /** What a find of a column answered, against what it should, with MISSING for misses. */
  checkFound(
    column: KeyColumn,
    present: Present,
    answer: { values: DeviceArray; found: DeviceArray },
  ): Promise<Verdict>;
  /** Pairs against the workload's, each of which comes once. */
  checkPairs(answer: { keys: DeviceArray; values: DeviceArray }): Promise<Verdict>;
  destroy(): void;
}

/** Opens a workload on a device that has a GPU. */
export async function openGpuWorkload(device: Device, workload: Workload): Promise<GpuWorkload> {
  const gpu = device.gpuDevice as GPUDevice;
  const { size, stride: STRIDE } = workload;
  const verdict = await device.allocate("u32", 2);

  const run = async (
    entryPoint: string,
    constants: Record<string, number>,
    elements: number,
    resources: Resources,
  ) => {
    const pipeline = await compile(gpu, source, entryPoint, { SIZE: size, COUNT: elements, ...constants });
    const kernel: BoundKernel = bind(gpu, pipeline, resources);
    const workgroups = Math.min(MOST_WORKGROUPS, Math.ceil(elements / WORKGROUP));
    await runKernels(gpu, [{ kernel, workgroups }]);
  };
  const make = async (entryPoint: string, constants: Record<string, number>, elements: number) => {
    const array = await device.allocate("u32", elements);
    await run(entryPoint, constants, elements, { 0: elementsOf(array) });
    return array;
  };
  const judge = async (
    entryPoint: string,
    constants: Record<string, number>,
    elements: number,
    resources: Resources,
  ): Promise<Verdict> => {
    const { buffer, offset = 0 } = elementsOf(verdict);
    gpu.queue.writeBuffer(buffer, offset, Uint32Array.of(0, 0xffffffff));
    await run(entryPoint, constants, elements, { ...resources, 3: elementsOf(verdict) });
    const [wrong, first] = await verdict.read();
    return { wrong, first };
  };

  return {
    column: (column, FIRST = 0, count = size) =>
      make("makeKeys", { STRIDE, COLUMN: COLUMNS[column], FIRST }, count),
    numbers: (FIRST = 0, count = size) => make("makeNumbers", { FIRST }, count),
    async odd() {
      const array = await device.allocate("u8", size);
      await run("makeOdd", { STRIDE }, size, { 0: elementsOf(array) });
      return array;
    },
    checkFound: (column, present, { values, found }) =>
      judge("checkFound", { STRIDE, COLUMN: COLUMNS[column], PRESENT: PRESENT[present] }, values.length, {
        1: elementsOf(values),
        2: elementsOf(found),
      }),
    async checkPairs({ keys, values }) {
      using seen = await device.allocate("u32", Math.ceil(size / 32));
      return await judge("checkPairs", {}, keys.length, {
        1: elementsOf(values),
        4: elementsOf(keys),
        5: elementsOf(seen),
      });
    },
    destroy: () => verdict.destroy(),
  };
}
