/**
 * The benchmark batch: how long a find of 1 to 2^20 keys takes from call to result, keys and results in host memory. The
 * device, the cpu engine and a JS Map take turns on the same entries: where a GPU begins to pay is where its line crosses
 * theirs.
 */
import { type Device, EngineError, openDevice, StaticMap, ValidationError } from "../src/index.js";
import {
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  byDevice,
  circumstances,
  engineName,
} from "./report.js";
import { findInMap, MOST_MAP_ENTRIES } from "./static-map-contestants.js";
import { Workload } from "./static-map-workload.js";
import { timeInTurn } from "./timing.js";

const MOST_KEYS = 2 ** 20;
const LEAST_RUNS = 15;
const LEAST_TOTAL_MS = 60;
const WARM_UP_MS = 20;

interface Answer {
  readonly values: Uint32Array;
  readonly found: Uint8Array;
}

interface Contestant {
  readonly name: string;
  find(keys: Uint32Array): Answer | Promise<Answer>;
}

/** `options.size`: entries of the maps. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const size = options.size ?? byDevice(device, { gpu: 2 ** 22, cpu: 2 ** 20, software: 2 ** 16 });
  if (!(Number.isInteger(size) && size >= 1 && size <= MOST_MAP_ENTRIES)) {
    throw new ValidationError(
      `batch does not measure maps of ${size} entries.`,
      `Give a whole number from 1 to ${MOST_MAP_ENTRIES}: a JS Map stands beside them.`,
    );
  }
  const runs = options.runs ?? LEAST_RUNS;
  const where = circumstances(device);
  const workload = new Workload(size);
  const rows: BenchRow[] = [];
  using beside = device.backend === "cpu" ? null : await openDevice({ backend: "cpu" });
  const maps: StaticMap[] = [];
  try {
    const contestants: Contestant[] = [];
    for (const each of [device, beside]) {
      if (each === null) continue;
      options.onProgress?.(`filling a map of ${size} entries`);
      const map = await StaticMap.create(each, { key: "u32", value: "u32", capacity: size });
      maps.push(map);
      await map.insert(workload.keys(), workload.values());
      contestants.push({ name: engineName(each), find: (keys) => map.find(keys) });
    }
    contestants.push(javascriptMap(workload));
    for (let keys = 1; keys <= MOST_KEYS; keys *= 4) {
      options.signal?.throwIfAborted();
      options.onProgress?.(`find of ${keys} keys`);
      rows.push(...(await measure(contestants, workload, keys, runs)));
    }
  } finally {
    for (const map of maps) await map[Symbol.asyncDispose]();
  }
  return {
    bench: "batch",
    state: "warm loop",
    ...where,
    parameters: { entries: size, key: "u32", value: "u32", "load factor": 0.5 },
    rows,
    notes: [
      "us is the median wall time of the awaited find, from a Uint32Array to typed arrays with values and found flags, all keys present; contestants take turns.",
      "Every answer was checked before it was timed.",
    ],
  };
}

function javascriptMap(workload: Workload): Contestant {
  const map = new Map<number, number>();
  for (let i = 0; i < workload.size; i++) map.set(workload.keyOf(i), i);
  return { name: "JS Map", find: (keys) => findInMap(map, keys) };
}

async function measure(
  contestants: readonly Contestant[],
  workload: Workload,
  count: number,
  runs: number,
): Promise<BenchRow[]> {
  const numbers = Uint32Array.from({ length: count }, (_, i) => workload.lookedUpAt(i % workload.size));
  const keys = numbers.map((number) => workload.keyOf(number));
  for (const { name, find } of contestants) {
    const { values, found } = await find(keys);
    for (let i = 0; i < count; i++) {
      if (found[i] === 1 && values[i] === numbers[i]) continue;
      throw new EngineError(`batch: ${name} did not find key number ${numbers[i]} with its value.`);
    }
  }
  const timings = await timeInTurn(
    contestants.map(({ find }) => ({ call: () => find(keys) })),
    { runs, leastTotalMs: runs < LEAST_RUNS ? 0 : LEAST_TOTAL_MS, warmUpMs: WARM_UP_MS },
  );
  return timings.map((timing, i) => ({
    keys: count,
    on: contestants[i].name,
    us: timing.median * 1000,
    "fastest us": timing.fastest * 1000,
    runs: timing.runs,
    "us per key": (timing.median * 1000) / count,
  }));
}
