/**
 * The benchmark crossovers: the direct strategy beside the partitioned one, over sizes of tables and batches. Where they
 * cross is what the webgpu engine's planner knows (src/engine/webgpu/partitioned/partition-planner.ts).
 *
 * A table is half full of keys; `find` looks up keys that are there, `insert` puts new keys into a table that is half as
 * full, `build` into an empty one, `erase` takes out keys that are there. The sweep over load has find and erase on one table; there
 * `find, out of order` is the same in a table whose entries are not in the order of their homes, so that it cannot go by pages: half of
 * them were built, and the others inserted directly.
 */
import { type BulkOptions, type Device, type Plan, StaticMap, ValidationError } from "../src/index.js";
import { type Batch, batchOf } from "./batches.js";
import {
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  byDevice,
  circumstances,
  engineName,
} from "./report.js";
import { checkFilled } from "./static-map-check.js";
import { type DeviceWorkload, openWorkload, Workload } from "./static-map-workload.js";
import { settle, timeInTurn } from "./timing.js";

export const sweeps = ["load"] as const;

/** Keys of the smallest batch, at least. */
const LEAST_BATCH = 2 ** 10;
const LOADS = [0.5, 0.75, 0.84, 0.88, 0.92, 0.95, 0.97];
/** A first call compiles and makes its buffers. */
const WARM_UP_MS = { gpu: 20, cpu: 0, software: 0 };
const strategies = ["direct", "partitioned"] as const;

/** `options.size`: slots of the one table to measure. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const { size, sweep } = options;
  if (size !== undefined && !(Number.isInteger(size) && size >= 2 * LEAST_BATCH && size <= 2 ** 29)) {
    throw new ValidationError(
      `crossovers does not measure ${size} slots.`,
      `Give a whole number from ${2 * LEAST_BATCH} to 2^29.`,
    );
  }
  const largest = byDevice(device, { gpu: 27, cpu: 22, software: 14 });
  const sizes = sweep === "load" ? [largest] : [-4, -3, -2, -1, 0].map((less) => largest + less);
  const tables = size === undefined ? sizes.map((bits) => 2 ** bits) : [size];
  const where = circumstances(device);
  const rows: BenchRow[] = [];
  for (const slots of tables) {
    for (const load of sweep === "load" ? LOADS : [0.5]) {
      using data = await openWorkload(device, new Workload(Math.floor(slots * load)));
      const shape = { key: "u32", value: "u32", capacity: slots, maxLoadFactor: 1 } as const;
      await using map = await StaticMap.create(device, shape);
      for (const strategy of strategies) {
        options.signal?.throwIfAborted();
        await checkFilled(map, data, { strategy });
      }
      const least = Math.max(LEAST_BATCH, slots / 2 ** 10);
      for (let batch = data.workload.size; batch >= least; batch = Math.floor(batch / 4)) {
        options.signal?.throwIfAborted();
        options.onProgress?.(`${batch} keys, ${slots} slots`);
        rows.push(...(await measure(device, map, data, batch, options)));
      }
    }
  }
  return {
    bench: "crossovers",
    state: "warm loop",
    ...where,
    parameters: { key: "u32", value: "u32", ...(sweep && { sweep }) },
    rows,
    notes: [
      "Each table was built and checked with either strategy before it was timed: every key found with its value, every absent key absent, retrieveAll pair by pair. Erases, and inserts into a table with entries, were not checked.",
      `Batches of fewer than ${LEAST_BATCH} keys are left out.`,
      "ms is the median wall time of the awaited call. ratio: time of direct / time of partitioned, which took the strategy named.",
    ],
  };
}

async function measure(
  device: Device,
  map: StaticMap,
  data: DeviceWorkload,
  batch: number,
  { sweep, runs = 5 }: BenchOptions,
): Promise<BenchRow[]> {
  const { slots } = map;
  const { size } = data.workload;
  const all = { keys: await data.keys(), values: await data.values() };
  const half = await batchOf(device, data, 0, Math.floor(size / 2));
  // as many of those that were built as of those that were inserted directly: the first ones lie nearer to their homes
  const present = await batchOf(device, data, Math.floor((size - batch) / 2), batch);
  const fresh = await batchOf(device, data, size - batch, batch);
  const fill = async ({ keys, values }: Batch) => {
    await map.clear();
    // leaves entries in the order of their homes, as a large batch does
    await map.insert(keys, values, { strategy: "partitioned" });
  };
  const rows: BenchRow[] = [];
  const row = async (
    operation: string,
    before: () => Promise<unknown>,
    call: (options: Pick<BulkOptions, "strategy" | "onPlan">) => Promise<unknown>,
  ) => {
    const timings = await timeInTurn(
      strategies.map((strategy) => ({
        before: async () => {
          await before();
          await settle(device);
        },
        call: () => call({ strategy }),
      })),
      { runs, leastTotalMs: 0, warmUpMs: byDevice(device, WARM_UP_MS) },
    );
    const [direct, partitioned] = timings.map((timing) => timing.median);
    await before();
    let plan: Plan | undefined;
    await call({ strategy: "partitioned", onPlan: (told) => (plan = told) });
    rows.push({
      slots,
      load: size / slots,
      batch,
      operation,
      on: engineName(device),
      "direct ms": direct,
      "partitioned ms": partitioned,
      ratio: direct / partitioned,
      strategy: strategyOf(device, plan),
    });
  };
  const find = async (operation: string) =>
    row(
      operation,
      async () => {},
      async (options) => {
        const { values, found } = await map.find(present.keys, { ...options, output: "device" });
        values.destroy();
        found.destroy();
      },
    );
  const { keys, values } = fresh;
  await fill(all);
  await find("find");
  if (sweep === "load" && device.backend !== "cpu") {
    await fill(half);
    await map.insert(all.keys, all.values, { strategy: "direct" });
    await find("find, out of order");
  }
  await row(
    "erase",
    () => fill(all),
    (options) => map.erase(present.keys, options),
  );
  if (sweep !== "load") {
    if (batch <= size / 2)
      await row(
        "insert",
        () => fill(half),
        (options) => map.insert(keys, values, options),
      );
    await row(
      "build",
      () => map.clear(),
      (options) => map.insert(keys, values, options),
    );
  }
  for (const columns of [half, present, fresh]) {
    columns.keys.destroy();
    columns.values.destroy();
  }
  return rows;
}

/** What the last chunk of a call was split into; on the cpu engine it is shared with worker threads. */
function strategyOf({ backend }: Device, plan: Plan | undefined): string {
  if (!plan || plan.strategy === "direct") return "direct";
  if (backend === "cpu") return "threads";
  return plan.pages > 0 ? "pages" : "partitions";
}
