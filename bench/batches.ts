/** Columns in the memory of a device, a batch at a time: keys of a workload's numbers in order, and these numbers as values. */
import type { Device, DeviceArray } from "../src/index.js";
import { Workload } from "./static-map-workload.js";
import { type GpuWorkload, openGpuWorkload } from "./workload-gpu.js";

export interface Batch {
  readonly keys: DeviceArray<"u32">;
  readonly values: DeviceArray<"u32">;
}

export interface Batches extends Disposable {
  readonly batches: readonly Batch[];
}

/** Keys of `count` numbers from `first` on, and these numbers: made on the GPU, where there is one. */
export async function batchOf(
  device: Device,
  { workload, gpu }: { readonly workload: Workload; readonly gpu: GpuWorkload | null },
  first: number,
  count: number,
): Promise<Batch> {
  return {
    keys: await (gpu?.column("keys", first, count) ?? device.upload(workload.column("keys", first, count))),
    values: await (gpu?.numbers(first, count) ?? device.upload(workload.values(first, count))),
  };
}

/** The numbers below `total` in batches of `batchSize`; the last has the rest. */
export async function openBatches(device: Device, total: number, batchSize: number): Promise<Batches> {
  const workload = new Workload(total);
  const gpu = device.gpuDevice ? await openGpuWorkload(device, workload) : null;
  const batches: Batch[] = [];
  for (let first = 0; first < total; first += batchSize) {
    const count = Math.min(batchSize, total - first);
    batches.push(await batchOf(device, { workload, gpu }, first, count));
  }
  return {
    batches,
    [Symbol.dispose]() {
      for (const { keys, values } of batches) for (const array of [keys, values]) array.destroy();
      gpu?.destroy();
    },
  };
}
