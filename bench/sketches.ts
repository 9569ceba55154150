/**
 * The benchmark sketches: add and contains of Bloom filters of three sizes (in the GPU's cache, above it, far above it), and add of a
 * HyperLogLog at several precisions, of distinct u32 keys on the device. Beside cuCollections' on the same GPU model. Every answer
 * is checked before anything is timed.
 */
import { type Device, type DeviceArray, EngineError, type Plan, ValidationError } from "../src/index.js";
import { blocksFor, falsePositiveRate } from "../src/sketches/bloom-sizing.js";
import { BloomFilter, HyperLogLog } from "../src/sketches/index.js";
import { PassTimer } from "./pass-times.js";
import { CUCO_SKETCHES } from "./published.js";
import {
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  byDevice,
  circumstances,
  engineName,
  isRealGpu,
} from "./report.js";
import { totalMs } from "./static-map-rows.js";
import { type DeviceWorkload, openWorkload, Workload } from "./static-map-workload.js";
import { median, settle, type TimedCall, timeInTurn } from "./timing.js";

const PRECISIONS = [12, 14, 15];
const BLOCK_BYTES = 32;
const FALSE_POSITIVES = 0.01;
const WARM_UP_MS = 300;
const PASS_TIMED_CALLS = 5;

/** `options.size`: keys. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const size = options.size ?? byDevice(device, { gpu: 2 ** 27, cpu: 2 ** 22, software: 2 ** 14 });
  if (!(Number.isInteger(size) && size >= 256 && size <= 2 ** 30)) {
    throw new ValidationError(
      `sketches does not measure ${size} keys.`,
      "Give a whole number from 256 to 2^30.",
    );
  }
  const filters = byDevice(device, {
    gpu: [2 ** 24, 2 ** 28, 2 ** 30],
    cpu: [2 ** 20, 2 ** 26],
    software: [2 ** 16],
  });
  const where = circumstances(device);
  using columns = await openWorkload(device, new Workload(size));
  const rows: BenchRow[] = [];
  for (const bytes of filters) {
    options.signal?.throwIfAborted();
    options.onProgress?.(`a Bloom filter of ${bytes / 2 ** 20} MiB`);
    rows.push(...(await measureFilter(device, columns, bytes, options)));
  }
  for (const precision of PRECISIONS) {
    options.signal?.throwIfAborted();
    options.onProgress?.(`a HyperLogLog of precision ${precision}`);
    rows.push(await measureRegisters(device, columns, precision, options));
  }
  return {
    bench: "sketches",
    state: "warm loop",
    ...where,
    parameters: { keys: size, key: "u32" },
    rows,
    ...(isRealGpu(device) && { published: CUCO_SKETCHES }),
    notes: [
      "G/s = 10^9 keys a second, of the awaited call, keys and answers on the device; kernels G/s of the kernels alone, by timestamps. cuCollections' figures are of kernels alone.",
      "bloom add goes into an empty filter each time. MiB of a filter follow from its capacity, at 1 % of false positives; how many keys go in is the same for all.",
      "Checked before they were timed: every key that was added is found, absent keys are found as often as the filter's size and load tell, the estimate is within five standard errors, and repeated keys change nothing.",
    ],
  };
}

async function measureFilter(
  device: Device,
  columns: DeviceWorkload,
  bytes: number,
  options: BenchOptions,
): Promise<BenchRow[]> {
  const perBlock = 1e9 / blocksFor(1e9, FALSE_POSITIVES);
  const capacity = Math.floor((bytes / BLOCK_BYTES) * perBlock);
  await using filter = await BloomFilter.create(device, {
    key: "u32",
    capacity,
    falsePositives: FALSE_POSITIVES,
  });
  await checkFilter(filter, columns);
  const keys = await columns.keys();
  const asked = await columns.lookups();
  const add: TimedCall = {
    before: async () => {
      await filter.clear();
      await settle(device);
    },
    call: () => filter.add(keys),
  };
  const contains: TimedCall = {
    call: () => filter.contains(asked, { output: "device" }),
    after: async (found: DeviceArray) => {
      found.destroy();
      await settle(device);
    },
  };
  let plan: Plan | undefined;
  await filter.clear();
  await filter.add(keys, {
    onPlan: (told) => {
      plan = told;
    },
  });
  const facts = { "filter MiB": filter.bytes / 2 ** 20, precision: null };
  return [
    await row(device, "bloom add", { ...facts, strategy: plan?.strategy ?? "" }, add, keys.length, options),
    await row(device, "bloom contains", { ...facts, strategy: "direct" }, contains, asked.length, options),
  ];
}

async function measureRegisters(
  device: Device,
  columns: DeviceWorkload,
  precision: number,
  options: BenchOptions,
): Promise<BenchRow> {
  await using sketch = await HyperLogLog.create(device, { key: "u32", precision });
  const keys = await columns.keys();
  await sketch.add(keys);
  const estimate = await sketch.estimate();
  await sketch.add(keys);
  const isNear = Math.abs(estimate / keys.length - 1) < 5 * sketch.standardError;
  if (!isNear || (await sketch.estimate()) !== estimate) {
    throw new EngineError(
      `A HyperLogLog of precision ${precision} estimates ${keys.length} keys as ${estimate}.`,
    );
  }
  const facts = { "filter MiB": null, precision, strategy: "direct" };
  const add: TimedCall = {
    before: async () => {
      await sketch.clear();
      await settle(device);
    },
    call: () => sketch.add(keys),
  };
  return await row(device, "hyperloglog add", facts, add, keys.length, options);
}

/** @throws EngineError when an answer is wrong */
async function checkFilter(filter: BloomFilter, columns: DeviceWorkload): Promise<void> {
  const keys = await columns.keys();
  const none = await countFound(filter, keys);
  await filter.add(keys);
  const [present, absent] = [
    await countFound(filter, keys),
    await countFound(filter, await columns.absent()),
  ];
  const expected = falsePositiveRate(keys.length, filter.bytes / BLOCK_BYTES) * keys.length;
  const margin = 0.02 * expected + 6 * Math.sqrt(expected) + 3;
  if (none === 0 && present === keys.length && Math.abs(absent - expected) <= margin) return;
  throw new EngineError(
    `Of ${keys.length} keys a filter of ${filter.bytes} bytes found ${none} before they were added and ${present} after; of as many absent ones ${absent}, where ${Math.round(expected)} were to be expected.`,
  );
}

async function countFound(filter: BloomFilter, keys: DeviceArray<"u32">): Promise<number> {
  const found = await filter.contains(keys);
  let count = 0;
  for (let i = 0; i < found.length; i++) count += found[i];
  return count;
}

async function row(
  device: Device,
  operation: string,
  facts: BenchRow,
  call: TimedCall,
  keys: number,
  options: BenchOptions,
): Promise<BenchRow> {
  const runs = options.runs ?? 5;
  const warmUpMs = byDevice(device, { gpu: WARM_UP_MS, cpu: 0, software: 0 });
  const [wall] = await timeInTurn([call], { runs, leastTotalMs: 100, warmUpMs });
  const kernels = await kernelMs(device, call, runs);
  return {
    operation,
    engine: engineName(device),
    ...facts,
    keys,
    ms: wall.median,
    "fastest ms": wall.fastest,
    "G/s": keys / wall.median / 1e6,
    "kernels ms": kernels,
    "kernels G/s": kernels && keys / kernels / 1e6,
  };
}

/** Median time of a call's kernels; null where there are no timestamps. */
async function kernelMs(
  device: Device,
  { before, call, after }: TimedCall,
  runs: number,
): Promise<number | null> {
  const timer = device.gpuDevice ? PassTimer.open(device.gpuDevice) : null;
  if (timer === null) return null;
  const samples: number[] = [];
  while (samples.length < Math.min(runs, PASS_TIMED_CALLS)) {
    await before?.();
    const { times, result } = await timer.time(call);
    await after?.(result as never);
    samples.push(totalMs(times));
  }
  timer.destroy();
  return median(samples);
}
