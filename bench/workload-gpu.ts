/** A workload's columns made on a GPU, and answers about them checked there: at 2^27 keys the host would take minutes. */
import type { Device, DeviceArray } from "../src/index.js";
import { openColumnKernels, type Verdict } from "./columns-gpu.js";
import { elementsOf } from "./kernel.js";
import type { KeyColumn, Width, Workload } from "./static-map-workload.js";
import source from "./workload.wgsl";

/** Parameters of workload.wgsl. */
const PARAMS = ["words", "size", "stride", "column", "present"] as const;

const COLUMNS: Readonly<Record<KeyColumn, number>> = { keys: 0, lookups: 1, absent: 2, half: 3 };

/** Which keys below `size` a map has: by the number of the key. */
export type Present = "none" | "even" | "all";
const PRESENT: Readonly<Record<Present, number>> = { none: 0, even: 1, all: 2 };

export interface GpuWorkload<T extends Width = "u32"> {
  /** Elements `first` to `first + count` of a column of keys. */
  column(column: KeyColumn, first?: number, count?: number): Promise<DeviceArray<T>>;
  /** The numbers from `first` on: the values of keys. */
  numbers(first?: number, count?: number): Promise<DeviceArray<T>>;
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
export async function openGpuWorkload<T extends Width>(
  device: Device,
  workload: Workload<T>,
): Promise<GpuWorkload<T>> {
  const { size, stride, type, words } = workload;
  const kernels = await openColumnKernels(device, source, PARAMS, { size, words, stride });
  return {
    column: (column, first = 0, count = size) =>
      kernels.make(type, "makeKeys", { column: COLUMNS[column], first }, count),
    numbers: (first = 0, count = size) => kernels.make(type, "makeNumbers", { first }, count),
    odd: () => kernels.make("u8", "makeOdd", {}, size),
    checkFound: (column, present, { values, found }) =>
      kernels.judge("checkFound", { column: COLUMNS[column], present: PRESENT[present] }, values.length, {
        1: elementsOf(values),
        2: elementsOf(found),
      }),
    async checkPairs({ keys, values }) {
      using seen = await device.allocate("u32", Math.ceil(size / 32));
      return await kernels.judge("checkPairs", {}, keys.length, {
        1: elementsOf(values),
        4: elementsOf(keys),
        5: elementsOf(seen),
      });
    },
    destroy: () => kernels.destroy(),
  };
}
