/**
 * The benchmark static-map (Fig. 5 of NVIDIA's article): insert, find, erase and retrieveAll of a StaticMap of u32 to u32 at load
 * 0.5, with unique random keys in the device's memory and results left there. Every table is checked key by key first.
 * Sweeps vary the number of keys, or the load factor.
 *
 * Figures are GB/s = 8 bytes × operations / time, as in NVIDIA's article, and their ratio to random reads (gups) of the same run.
 * On the CPU, JavaScript's Map runs in turn with the engine, and the engine with one thread as well as with all.
 */
import { type Device, LimitError, openDevice, ValidationError } from "../src/index.js";
import { type GupsFigures, gupsOf, gupsParameters } from "./gups.js";
import { CUCO_BY_LOAD, STATIC_MAPS } from "./published.js";
import {
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  byDevice,
  circumstances,
  engineName,
  isRealGpu,
} from "./report.js";
import {
  type Contestant,
  javascriptMap,
  LOAD_FACTOR,
  MOST_MAP_ENTRIES,
  type Operation,
  operations,
  staticMap,
} from "./static-map-contestants.js";
import { DEFAULT_RUNS, timeRows } from "./static-map-rows.js";
import { MOST_KEYS, Workload } from "./static-map-workload.js";

/** What can be varied. */
export const sweeps = ["size", "load"] as const;

/** The load at which the default run on a GPU measures again: a table that wastes little memory. */
const HIGH_LOAD = 0.95;
const LOADS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97];

/** One table to measure. */
interface Point {
  readonly size: number;
  readonly load: number;
  readonly operations: readonly Operation[];
  /** With a JS Map, and the engine with one thread as well. */
  readonly beside: boolean;
}

/** What a run measures. Of points that stand for each other, the first that fits the device is measured. */
interface Plan {
  readonly points: readonly (readonly Point[])[];
  readonly brief: boolean;
}

/** `options.size`: keys of the map; of the sweep over sizes, the most keys. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const plan = planFor(device, options);
  const runs = options.runs ?? DEFAULT_RUNS;
  const where = circumstances(device);
  const notes = notesFor(device, plan);
  options.signal?.throwIfAborted();
  options.onProgress?.("gups");
  const gups = await gupsOf(device, runs);
  const rows: BenchRow[] = [];
  for (const candidates of plan.points) {
    for (const [i, point] of candidates.entries()) {
      try {
        rows.push(...(await measurePoint(device, point, { ...options, runs, gups, brief: plan.brief })));
        break;
      } catch (error) {
        const asked = options.size !== undefined && options.sweep === undefined;
        if (!(error instanceof LimitError) || (asked && i === candidates.length - 1)) throw error;
        notes.push(`${point.size} keys at load ${point.load} do not fit this device. ${error.message}`);
      }
    }
  }
  return {
    bench: "static-map",
    state: "warm loop",
    ...where,
    parameters: {
      ...(options.sweep && { sweep: options.sweep }),
      key: "u32",
      value: "u32",
      "load factor": options.sweep === "load" ? "varied" : LOAD_FACTOR,
      hash: "murmur3",
      threads: device.info.threads,
      ...gupsParameters(gups),
    },
    rows,
    ...(isRealGpu(device) && {
      published: options.sweep === "load" ? CUCO_BY_LOAD : [...STATIC_MAPS, ...CUCO_BY_LOAD],
    }),
    notes,
  };
}

function planFor(device: Device, { size, sweep }: BenchOptions): Plan {
  if (size !== undefined) checkSize(size);
  if (sweep === "size") return sizeSweep(device, size);
  if (sweep === "load") return loadSweep(device, size);
  if (sweep !== undefined) {
    throw new ValidationError(`static-map has no sweep over "${sweep}".`, `Use one of ${sweeps.join(", ")}.`);
  }
  return defaultPlan(device, size);
}

function defaultPlan(device: Device, size?: number): Plan {
  const point = (size: number, load = LOAD_FACTOR): Point => ({
    size,
    load,
    operations: load === LOAD_FACTOR ? operations : ["insert", "find present"],
    beside: true,
  });
  const gpu = device.backend !== "cpu";
  if (size !== undefined) {
    return { points: [[point(size)], ...(gpu ? [[point(size, HIGH_LOAD)]] : [])], brief: false };
  }
  // one size on a real GPU, that of NVIDIA's article figure; several on others
  const sizes = byDevice(device, {
    gpu: [[2 ** 27, 2 ** 26]],
    cpu: [[2 ** 20], [2 ** 23]],
    software: [[2 ** 14], [2 ** 16]],
  });
  const loads = gpu ? [LOAD_FACTOR, HIGH_LOAD] : [LOAD_FACTOR];
  return {
    points: loads.flatMap((load) => sizes.map((same) => same.map((size) => point(size, load)))),
    brief: false,
  };
}

function sizeSweep(device: Device, most?: number): Plan {
  const last = most ?? byDevice(device, { gpu: 2 ** 28, cpu: 2 ** 22, software: 2 ** 16 });
  const step = byDevice(device, { gpu: 1, cpu: 2, software: 2 });
  const sizes: number[] = [];
  for (let exponent = 10; 2 ** exponent < last; exponent += step) sizes.push(2 ** exponent);
  sizes.push(last);
  return {
    brief: true,
    points: sizes.map((size) => [
      { size, load: LOAD_FACTOR, operations: ["insert", "find present"], beside: true },
    ]),
  };
}

function loadSweep(device: Device, keys?: number): Plan {
  const size = keys ?? byDevice(device, { gpu: 2 ** 27, cpu: 2 ** 18, software: 2 ** 12 });
  return {
    brief: true,
    points: LOADS.map((load) => [
      { size, load, operations: ["insert", "find present", "find absent", "erase"], beside: false },
    ]),
  };
}

function checkSize(size: number): void {
  if (Number.isInteger(size) && size >= 1 && size <= MOST_KEYS) return;
  throw new ValidationError(
    `static-map does not measure ${size} keys.`,
    "Give a whole number from 1 to 2^31.",
  );
}

async function measurePoint(
  device: Device,
  { size, load, operations, beside }: Point,
  {
    gups,
    brief,
    runs,
    ...options
  }: BenchOptions & { runs: number; gups: GupsFigures | null; brief: boolean },
): Promise<BenchRow[]> {
  const workload = new Workload(size);
  const rows: BenchRow[] = [];
  const contestants: Contestant[] = [];
  const at = load === LOAD_FACTOR ? "" : ` at load ${load}`;
  using single = beside ? await singleThread(device) : null;
  try {
    options.signal?.throwIfAborted();
    options.onProgress?.(`checking ${size} keys${at}`);
    // past its tombstones a full table answers misses slowly: at high load that is not what is checked
    const how = { maxLoadFactor: load, thorough: !brief && load <= LOAD_FACTOR };
    contestants.push(await staticMap(device, engineName(device), workload, how));
    if (single) contestants.push(await staticMap(single, engineName(single), workload, how));
    if (beside && device.backend === "cpu" && size <= MOST_MAP_ENTRIES) {
      contestants.push(javascriptMap(workload));
    }
    for (const operation of operations) {
      options.signal?.throwIfAborted();
      options.onProgress?.(`${operation} of ${size} keys${at}`);
      rows.push(...(await timeRows(contestants, { size, load, operation }, { runs, gups, brief })));
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

function notesFor(device: Device, { brief }: Plan): string[] {
  const notes = [
    "ms is the median wall time of the awaited call, inputs and results on the device. GB/s = 8 bytes × keys / time, GB are 10^9 bytes.",
    brief
      ? "Before it was timed, each table was checked: every key found with its value, every absent key absent, retrieveAll pair by pair."
      : "Before it was timed, each table was checked: every key found with its value, every absent key absent, retrieveAll pair by pair; at load 0.5 also erased keys gone, inserts over tombstones.",
  ];
  if (device.backend === "cpu") {
    return [
      ...notes,
      "A JS Map runs in turn with the engine, filling the same typed arrays. Ratios to GUPS are to random reads with as many threads.",
    ];
  }
  if (brief) return notes;
  return [
    ...notes,
    "insert zipf(1.0): as many keys, drawn on the host by zipf with exponent 1 over the numbers of the unique keys, so that most repeat.",
    "kernel ms is the mean time of the call's compute passes by GPU timestamps, taken in calls of their own; what ms has more is the call's latency, which dominates small sizes.",
  ];
}
