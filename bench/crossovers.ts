/**
 * The benchmark crossovers: the direct strategy beside the partitioned one, over sizes of tables and batches. Where they
 * cross is what the webgpu engine's planner knows (src/engine/webgpu/bulk-planner.ts).
 *
 * A table is half full of keys; `find` looks up keys that are there, `insert` puts new keys into a table that is a quarter
 * full, `build` into an empty one, `erase` takes out keys that are there.
 */
import { type Device, type DeviceArray, StaticMap } from "../src/index.js";
import {
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  byDevice,
  circumstances,
  engineName,
} from "./report.js";
import { Workload } from "./static-map-workload.js";
import { timeInTurn } from "./timing.js";
import { type GpuWorkload, openGpuWorkload } from "./workload-gpu.js";

const strategies = ["direct", "partitioned"] as const;
type Columns = { keys: DeviceArray<"u32">; values: DeviceArray<"u32"> };

/** `options.size`: slots of the one table to measure. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const largest = byDevice(device, { gpu: 27, cpu: 22, software: 14 });
  const tables =
    options.size === undefined
      ? [largest - 4, largest - 3, largest - 2, largest - 1, largest].map((bits) => 2 ** bits)
      : [options.size];
  const where = circumstances(device);
  const rows: BenchRow[] = [];
  for (const slots of tables) {
    using data = await open(device, slots / 2);
    await using map = await StaticMap.create(device, {
      key: "u32",
      value: "u32",
      capacity: slots,
      loadFactor: 1,
    });
    for (let batch = slots / 2; batch >= 2 ** 10 && batch >= slots / 2 ** 10; batch /= 4) {
      options.signal?.throwIfAborted();
      options.onProgress?.(`${batch} keys, ${slots} slots`);
      rows.push(...(await measure(device, map, data, batch, options.runs ?? 3)));
    }
  }
  return {
    bench: "crossovers",
    ...where,
    parameters: { key: "u32", value: "u32" },
    rows,
    notes: ["ms is the median wall time of the awaited call. ratio: time of direct / time of partitioned."],
  };
}

/** Keys and values in the device's memory. */
async function open(device: Device, size: number) {
  const workload = new Workload(size);
  const gpu: GpuWorkload | null = device.gpuDevice ? await openGpuWorkload(device, workload) : null;
  const column = async (first: number, count: number): Promise<Columns> => ({
    keys: await (gpu?.column("keys", first, count) ?? device.upload(workload.column("keys", first, count))),
    values: await (gpu?.numbers(first, count) ?? device.upload(workload.values(first, count))),
  });
  return { size, column, [Symbol.dispose]: () => gpu?.destroy() };
}

async function measure(
  device: Device,
  map: StaticMap,
  data: Awaited<ReturnType<typeof open>>,
  batch: number,
  runs: number,
): Promise<BenchRow[]> {
  const { slots } = map;
  const all = await data.column(0, data.size);
  const quarter = await data.column(0, data.size / 2);
  const present = await data.column(0, batch);
  const fresh = await data.column(data.size - batch, batch);
  const fill = async ({ keys, values }: Columns) => {
    await map.clear();
    await map.insert(keys, values);
  };
  const rows: BenchRow[] = [];
  const row = async (
    operation: string,
    before: () => Promise<unknown>,
    call: (strategy: (typeof strategies)[number]) => Promise<unknown>,
  ) => {
    const timings = await timeInTurn(
      strategies.map((strategy) => ({
        before: async () => void (await before()),
        call: () => call(strategy),
      })),
      { runs, leastTotalMs: 0, warmUpMs: 0 },
    );
    const [direct, partitioned] = timings.map((timing) => timing.median);
    rows.push({
      slots,
      batch,
      operation,
      on: engineName(device),
      "direct ms": direct,
      "partitioned ms": partitioned,
      ratio: direct / partitioned,
    });
  };
  const discard = async (answer: Promise<{ values: DeviceArray; found: DeviceArray }>) => {
    const { values, found } = await answer;
    values.destroy();
    found.destroy();
  };
  const { keys, values } = fresh;
  await fill(all);
  await row(
    "find",
    async () => {},
    (strategy) => discard(map.find(present.keys, { output: "device", strategy })),
  );
  await row(
    "erase",
    () => fill(all),
    (strategy) => map.erase(present.keys, { strategy }),
  );
  if (batch <= data.size / 2)
    await row(
      "insert",
      () => fill(quarter),
      (strategy) => map.insert(keys, values, { strategy }),
    );
  await row(
    "build",
    () => map.clear(),
    (strategy) => map.insert(keys, values, { strategy }),
  );
  for (const columns of [all, quarter, present, fresh]) {
    columns.keys.destroy();
    columns.values.destroy();
  }
  return rows;
}
