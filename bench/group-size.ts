/**
 * The benchmark group-size (Fig. 4 of NVIDIA's article): insert and find of a map at load factors from 0.1 on, when a probe looks at
 * 1, 2, 4, 8, 16 or 32 slots in one step. The table has the same slots at every load; the direct strategy is forced, and
 * the group sizes take turns. Random reads (gups) of the same run are the bound that the article draws as a dashed line.
 */
import { type Device, LimitError, ValidationError } from "../src/index.js";
import { defaultGupsEntries, type GupsFigures, gupsGigabytes, measureGups } from "./gups.js";
import { CUCO_BY_LOAD } from "./published.js";
import {
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  byDevice,
  circumstances,
  isRealGpu,
} from "./report.js";
import { checkFilled } from "./static-map-check.js";
import { type Operation, openMap } from "./static-map-contestants.js";
import { Workload } from "./static-map-workload.js";
import { directWith, groupSizes } from "./strategy.js";
import { timeInTurn } from "./timing.js";

const LOADS = [0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];
const OPERATIONS = ["insert", "find present"] as const satisfies readonly Operation[];
const WARM_UP_MS = 100;

/** `options.size`: slots of the table. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const slots = options.size ?? byDevice(device, { gpu: 2 ** 27, cpu: 2 ** 18, software: 2 ** 13 });
  if (!(Number.isInteger(slots) && slots >= 64 && slots <= 2 ** 31)) {
    throw new ValidationError(
      `group-size does not measure ${slots} slots.`,
      "Give a whole number from 64 to 2^31.",
    );
  }
  const runs = options.runs ?? 5;
  const where = circumstances(device);
  const notes = [
    "ms is the median wall time of the awaited call, inputs and results on the device. GB/s = 8 bytes × keys / time, GB are 10^9 bytes.",
    "Each table was checked with each group size: every key found with its value, every absent key absent, retrieveAll pair by pair.",
  ];
  if (device.backend === "cpu") {
    notes.push(
      "The cpu engine probes with one thread a key whatever the group size: its lines show the noise.",
    );
  }
  options.onProgress?.("gups");
  const gups = await measureGups(device, { entries: defaultGupsEntries(device), runs });
  const rows: BenchRow[] = [];
  for (const load of LOADS) {
    options.signal?.throwIfAborted();
    options.onProgress?.(`load ${load} of ${slots} slots`);
    try {
      rows.push(...(await measureLoad(device, slots, load, { runs, gups })));
    } catch (error) {
      if (!(error instanceof LimitError)) throw error;
      notes.push(`Load ${load} does not fit this device. ${error.message}`);
    }
  }
  return {
    bench: "group-size",
    state: "warm loop",
    ...where,
    parameters: { slots, key: "u32", value: "u32", strategy: "direct", "GUPS GB/s": gupsGigabytes(gups) },
    rows,
    ...(isRealGpu(device) && {
      published: CUCO_BY_LOAD.filter(
        ({ operation }) => operation === "insert" || operation === "find present",
      ),
    }),
    notes,
  };
}

async function measureLoad(
  device: Device,
  slots: number,
  load: number,
  { runs, gups }: { runs: number; gups: GupsFigures },
): Promise<BenchRow[]> {
  const size = Math.floor(slots * load);
  await using open = await openMap(device, new Workload(size), size / slots);
  for (const groupSize of groupSizes) await checkFilled(open.map, open.columns, directWith(groupSize));
  const rows: BenchRow[] = [];
  for (const operation of OPERATIONS) {
    const calls = [];
    for (const groupSize of groupSizes) calls.push((await open.calls(directWith(groupSize)))[operation]);
    const timings = await timeInTurn(calls, {
      runs,
      leastTotalMs: 0,
      warmUpMs: byDevice(device, { gpu: WARM_UP_MS, cpu: 0, software: 0 }),
    });
    for (const [i, { median, fastest, runs }] of timings.entries()) {
      const bandwidth = (8 * size) / median / 1e6;
      rows.push({
        load,
        keys: size,
        operation,
        "group size": groupSizes[i],
        ms: median,
        "fastest ms": fastest,
        runs,
        "GB/s": bandwidth,
        "ratio to GUPS": bandwidth / gupsGigabytes(gups),
      });
    }
  }
  return rows;
}
