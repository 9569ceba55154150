/**
 * The benchmark batch: how long a find of 1 to 2^20 keys takes from call to result, keys and results in host memory. The
 * device, the cpu engine and a JS Map take turns on the same entries: where a GPU begins to pay is where its line crosses
 * theirs.
 */
import { type Device, ValidationError } from "../src/index.js";
import { type HostMap, openHostMaps, timeFinds } from "./host-maps.js";
import { type BenchOptions, type BenchReport, type BenchRow, byDevice, circumstances } from "./report.js";
import { MOST_MAP_ENTRIES } from "./static-map-contestants.js";
import { Workload } from "./static-map-workload.js";

const MOST_KEYS = 2 ** 20;
const LEAST_RUNS = 15;
const LEAST_TOTAL_MS = 60;
const WARM_UP_MS = 20;

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
  options.onProgress?.(`filling maps of ${size} entries`);
  await using open = await openHostMaps(device, size);
  for (const map of open.maps) await map.insert(workload.keys(), workload.values());
  for (let keys = 1; keys <= MOST_KEYS; keys *= 4) {
    options.signal?.throwIfAborted();
    options.onProgress?.(`find of ${keys} keys`);
    rows.push(...(await measure(open.maps, workload, keys, runs)));
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

async function measure(
  maps: readonly HostMap[],
  workload: Workload,
  count: number,
  runs: number,
): Promise<BenchRow[]> {
  const leastTotalMs = runs < LEAST_RUNS ? 0 : LEAST_TOTAL_MS;
  const timings = await timeFinds("batch", maps, workload, count, {
    runs,
    leastTotalMs,
    warmUpMs: WARM_UP_MS,
  });
  return timings.map((timing, i) => ({
    keys: count,
    on: maps[i].name,
    us: timing.median * 1000,
    "fastest us": timing.fastest * 1000,
    runs: timing.runs,
    "us per key": (timing.median * 1000) / count,
  }));
}
