/**
 * The benchmark static-map (Fig. 5 of the seeds): insert, find, erase and retrieveAll of a StaticMap of u32 to u32 at load
 * 0.5, with unique random keys in the device's memory and results left there. Every table is checked key by key first.
 *
 * Figures are GB/s = 8 bytes × operations / time, as in the seeds, and their ratio to random reads (gups) of the same run.
 * On the CPU, JavaScript's Map runs in turn with the engine, and the engine with one thread as well as with all.
 */
import { type Device, LimitError, openDevice, ValidationError } from "../src/index.js";
import { defaultGupsEntries, type GupsFigures, gupsGigabytes, measureGups } from "./gups.js";
import { PassTimer, type PassTimes } from "./pass-times.js";
import { type BenchOptions, type BenchReport, type BenchRow, circumstances } from "./report.js";
import {
  type Contestant,
  javascriptMap,
  LOAD_FACTOR,
  MOST_MAP_ENTRIES,
  type Operation,
  operations,
  staticMap,
} from "./static-map-contestants.js";
import { MOST_KEYS, Workload } from "./static-map-workload.js";
import { type TimedCall, type Timing, timeInTurn } from "./timing.js";

/** Runs of a figure sum up to this at least: at small sizes five would say little. */
const LEAST_TOTAL_MS = 300;
/** Unmeasured calls on a real GPU, before each operation; timing.ts says why. */
const WARM_UP_MS = 500;
/** Calls whose kernel times are averaged where a call is short: timestamps come in steps of 65.5 us. */
const AVERAGED_SHORT_CALLS = 25;
const AVERAGED_LONG_CALLS = 5;
const SHORT_CALL_MS = 5;

/** How one operation went for one contestant. */
interface Result {
  readonly contestant: Contestant;
  readonly timing: Timing;
  /** Mean milliseconds by kernel; null where no GPU tells. */
  readonly kernels: PassTimes | null;
}

/** `options.size`: keys of the map. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const sizes = options.size === undefined ? defaultSizes(device) : [checkSize(options.size)];
  const runs = options.runs ?? 5;
  const where = circumstances(device);
  const notes = notesFor(device);
  options.signal?.throwIfAborted();
  options.onProgress?.("gups");
  const gups = await measureGups(device, { entries: defaultGupsEntries(device), runs });
  const rows: BenchRow[] = [];
  for (const size of sizes) {
    try {
      rows.push(...(await measureSize(device, size, gups, { ...options, runs })));
    } catch (error) {
      if (options.size !== undefined || !(error instanceof LimitError)) throw error;
      notes.push(`${size} keys do not fit this device. ${error.message}`);
    }
  }
  return {
    bench: "static-map",
    ...where,
    parameters: {
      key: "u32",
      value: "u32",
      "load factor": LOAD_FACTOR,
      hash: "murmur3",
      threads: device.info.threads,
      "GUPS GB/s": gupsGigabytes(gups),
      "GUPS table bytes": gups.entries * 8,
    },
    rows,
    notes,
  };
}

function defaultSizes(device: Device): number[] {
  if (device.backend === "cpu") return [2 ** 20, 2 ** 23];
  return device.info.software ? [2 ** 16, 2 ** 18, 2 ** 20] : [2 ** 20, 2 ** 24, 2 ** 26];
}

function checkSize(size: number): number {
  if (Number.isInteger(size) && size >= 1 && size <= MOST_KEYS) return size;
  throw new ValidationError(
    `static-map does not measure ${size} keys.`,
    "Give a whole number from 1 to 2^31.",
  );
}

async function measureSize(
  device: Device,
  size: number,
  gups: GupsFigures,
  options: BenchOptions & { runs: number },
): Promise<BenchRow[]> {
  const workload = new Workload(size);
  const rows: BenchRow[] = [];
  const contestants: Contestant[] = [];
  using single = await singleThread(device);
  try {
    options.signal?.throwIfAborted();
    options.onProgress?.(`checking ${size} keys`);
    contestants.push(await staticMap(device, nameOf(device), workload));
    if (single) contestants.push(await staticMap(single, nameOf(single), workload));
    if (device.backend === "cpu" && size <= MOST_MAP_ENTRIES) contestants.push(javascriptMap(workload));
    for (const operation of operations) {
      options.signal?.throwIfAborted();
      options.onProgress?.(`${operation} of ${size} keys`);
      const results = await timeOperation(contestants, operation, options.runs);
      rows.push(...results.map((result) => describe(size, operation, result, results, gups)));
    }
  } finally {
    for (const contestant of contestants) await contestant[Symbol.asyncDispose]();
  }
  return rows;
}

/** The CPU engine with one thread, which is what a JS Map has. */
async function singleThread(device: Device): Promise<Device | null> {
  const wanted = device.backend === "cpu" && device.info.threads > 1;
  return wanted ? openDevice({ backend: "cpu", threads: 1 }) : null;
}

function nameOf({ backend, info }: Device): string {
  if (backend !== "cpu") return backend;
  return `cpu, ${info.threads} ${info.threads === 1 ? "thread" : "threads"}`;
}

async function timeOperation(
  contestants: readonly Contestant[],
  operation: Operation,
  runs: number,
): Promise<Result[]> {
  const able = contestants.flatMap((contestant) => {
    const call = contestant.calls[operation];
    return call ? [{ contestant, call }] : [];
  });
  const hardware = able.some(({ contestant: { device } }) => device?.gpuDevice && !device.info.software);
  const repeats = { runs, leastTotalMs: LEAST_TOTAL_MS, warmUpMs: hardware ? WARM_UP_MS : 0 };
  const timings = await timeInTurn(
    able.map(({ call }) => call),
    repeats,
  );
  const results: Result[] = [];
  for (const [i, { contestant, call }] of able.entries()) {
    const gpu = contestant.device?.gpuDevice;
    const calls = timings[i].median < SHORT_CALL_MS ? AVERAGED_SHORT_CALLS : AVERAGED_LONG_CALLS;
    results.push({
      contestant,
      timing: timings[i],
      kernels: gpu ? await meanKernels(gpu, call, calls) : null,
    });
  }
  return results;
}

/** Kernel times, averaged over the middle half of a number of calls: not thrown by a slow call, and finer than a timestamp. */
async function meanKernels(gpu: GPUDevice, { before, call, after }: TimedCall, calls: number) {
  const timer = PassTimer.open(gpu);
  if (timer === null) return null;
  const each: PassTimes[] = [];
  while (each.length < calls) {
    await before?.();
    const { times, result } = await timer.time(call);
    await after?.(result as never);
    each.push(times);
  }
  timer.destroy();
  each.sort((a, b) => total(a) - total(b));
  const middle = each.slice(calls >> 2, calls - (calls >> 2));
  const means = new Map<string, number>();
  for (const times of middle) {
    for (const [label, ms] of times) means.set(label, (means.get(label) ?? 0) + ms / middle.length);
  }
  return means;
}

function total(times: PassTimes): number {
  return [...times.values()].reduce((sum, ms) => sum + ms, 0);
}

function describe(
  size: number,
  operation: Operation,
  { contestant, timing, kernels }: Result,
  results: readonly Result[],
  gups: GupsFigures,
): BenchRow {
  const bandwidth = (8 * size) / timing.median / 1e6;
  const map = results.find((other) => other.contestant.device === null);
  return {
    size,
    operation,
    on: contestant.name,
    ms: timing.median,
    "fastest ms": timing.fastest,
    runs: timing.runs,
    "G ops/s": size / timing.median / 1e6,
    "GB/s": bandwidth,
    "ratio to GUPS": bandwidth / gupsGigabytes(gups, contestant.device?.info.threads ?? 1),
    ...(map && { "ratio to JS Map": map.timing.median / timing.median }),
    ...(kernels && kernelColumns(size, kernels, gups)),
  };
}

function kernelColumns(size: number, kernels: PassTimes, gups: GupsFigures): BenchRow {
  const ms = total(kernels);
  // shorter than a step of the timestamps
  if (ms === 0) return {};
  const bandwidth = (8 * size) / ms / 1e6;
  return {
    "kernel ms": ms,
    "kernel GB/s": bandwidth,
    "kernel ratio to GUPS": bandwidth / gupsGigabytes(gups),
    kernels: [...kernels].map(([label, each]) => `${label} ${each.toFixed(3)}`).join(", "),
  };
}

function notesFor(device: Device): string[] {
  const notes = [
    "ms is the median wall time of the awaited call, inputs and results on the device. GB/s = 8 bytes × keys / time, GB are 10^9 bytes.",
    "Before it was timed, each table was checked: every key found with its value, every absent key absent, retrieveAll pair by pair, erased keys gone, inserts over tombstones.",
  ];
  if (device.backend === "cpu") {
    return [
      ...notes,
      "A JS Map runs in turn with the engine, filling the same typed arrays. Ratios to GUPS are to random reads with as many threads.",
    ];
  }
  return [
    ...notes,
    "kernel ms is the mean time of the call's compute passes by GPU timestamps, taken in calls of their own; what ms has more is the call's latency, which dominates small sizes.",
  ];
}
