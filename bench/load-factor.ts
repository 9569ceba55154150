/**
 * The benchmark load-factor (the utilisation table of SimpleGPUHashTable): a table of 2^27 slots is filled by 4,194,304 keys
 * at a time until it is 0.97 full, and each batch is timed. A column of "kernel" figures leaves the call's latency out, as
 * the article's times do.
 */
import { type Device, EngineError, StaticMap, ValidationError } from "../src/index.js";
import { type Batches, openBatches } from "./batches.js";
import { PassTimer } from "./pass-times.js";
import { SIMPLE_UTILISATION } from "./published.js";
import {
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  byDevice,
  circumstances,
  engineName,
} from "./report.js";
import { totalMs } from "./static-map-rows.js";
import { median, settle } from "./timing.js";

/** A batch is this part of the slots; so many fill the table to 31/32. */
const PARTS = 32;

/** Fills that do not count: memory is slow for a while after large buffers were made. */
const WARM_UP_MS = { gpu: 1000, cpu: 0, software: 0 };

/** `options.size`: slots of the table. `options.runs`: how often it is filled. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const slots = options.size ?? byDevice(device, { gpu: 2 ** 27, cpu: 2 ** 23, software: 2 ** 16 });
  if (!(Number.isInteger(slots) && slots >= 1024 && slots <= 2 ** 31)) {
    throw new ValidationError(
      `load-factor does not measure ${slots} slots.`,
      "Give a whole number from 1024 to 2^31.",
    );
  }
  const runs = options.runs ?? 5;
  const where = circumstances(device);
  const size = Math.floor(slots / PARTS);
  using columns = await openBatches(device, size * (PARTS - 1), size);
  await using map = await StaticMap.create(device, {
    key: "u32",
    value: "u32",
    capacity: slots,
    maxLoadFactor: 1,
  });
  options.onProgress?.(`checking ${slots} slots`);
  await fill(device, map, columns);
  await checkFull(map, columns);
  const warmUpMs = byDevice(device, WARM_UP_MS);
  for (const start = performance.now(); performance.now() - start < warmUpMs; ) {
    await fill(device, map, columns);
  }
  const times: number[][] = [];
  for (let i = 0; i < runs; i++) {
    options.signal?.throwIfAborted();
    options.onProgress?.(`filling ${slots} slots, ${i + 1} of ${runs}`);
    times.push(await fill(device, map, columns));
  }
  const kernels = await kernelTimes(device, map, columns, runs);
  const middle = (of: readonly (readonly number[])[], batch: number) => median(of.map((each) => each[batch]));
  return {
    bench: "load-factor",
    state: "warm loop",
    ...where,
    parameters: { slots, "keys of a batch": size, fills: runs, key: "u32", value: "u32" },
    rows: columns.batches.map((_, batch) =>
      row(engineName(device), size, batch / PARTS, middle(times, batch), kernels && middle(kernels, batch)),
    ),
    published: SIMPLE_UTILISATION,
    notes: [
      `Each row is one insert of ${size} new keys into a table of ${slots} slots that is as full as the row says; medians of ${runs} fills. ms is the wall time of the awaited call.`,
      "Before it was timed, the full table was checked: every batch inserted in full, every key of it found with its value.",
      ...(kernels
        ? ["kernel ms is the time of the call's compute passes by GPU timestamps, in fills of their own."]
        : []),
    ],
  };
}

function row(on: string, keys: number, load: number, ms: number, kernelMs: number | null): BenchRow {
  return {
    load,
    on,
    ms,
    "M keys/s": keys / ms / 1e3,
    "GB/s": (8 * keys) / ms / 1e6,
    // shorter than a step of the timestamps: none
    ...(kernelMs && { "kernel ms": kernelMs, "kernel M keys/s": keys / kernelMs / 1e3 }),
  };
}

/** Clears the table and inserts batch after batch; milliseconds of each. @throws EngineError when one is not inserted in full. */
async function fill(
  device: Device,
  map: StaticMap,
  { batches }: Batches,
  insert: (call: () => Promise<{ inserted: number }>) => Promise<{ inserted: number; ms: number }> = timed,
): Promise<number[]> {
  await map.clear();
  await settle(device);
  const times: number[] = [];
  for (const { keys, values } of batches) {
    const { inserted, ms } = await insert(() => map.insert(keys, values));
    if (inserted !== keys.length) {
      throw new EngineError(`load-factor: ${inserted} of ${keys.length} new keys were inserted.`);
    }
    times.push(ms);
  }
  return times;
}

async function timed(call: () => Promise<{ inserted: number }>) {
  const start = performance.now();
  const { inserted } = await call();
  return { inserted, ms: performance.now() - start };
}

async function kernelTimes(
  device: Device,
  map: StaticMap,
  columns: Batches,
  runs: number,
): Promise<number[][] | null> {
  const timer = device.gpuDevice ? PassTimer.open(device.gpuDevice) : null;
  if (timer === null) return null;
  const all: number[][] = [];
  const insert = async (call: () => Promise<{ inserted: number }>) => {
    const { times, result } = await timer.time(call);
    return { inserted: result.inserted, ms: totalMs(times) };
  };
  while (all.length < runs) all.push(await fill(device, map, columns, insert));
  timer.destroy();
  return all;
}

/** Every key of every batch is found with its value. */
async function checkFull(map: StaticMap, { batches }: Batches): Promise<void> {
  for (const { keys, values } of batches) {
    const [answer, expected] = [await map.find(keys), await values.read()];
    for (let i = 0; i < expected.length; i++) {
      if (answer.found[i] === 1 && answer.values[i] === expected[i]) continue;
      throw new EngineError(`load-factor: key number ${expected[i]} was not found with its value.`);
    }
  }
}
