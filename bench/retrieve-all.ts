/**
 * The benchmark retrieve-all: all pairs out of a table of 2 × 10^8 slots that holds 10^8, by the library and, on a
 * GPU, by five kernels that differ in how entries get their places (bench/retrieve-all). Each kernel's pairs are checked,
 * every one of them, before it is timed. GB/s = 8 bytes × pairs / time, beside what a copy moves.
 */
import { type Device, StaticMap, ValidationError } from "../src/index.js";
import { defaultGupsEntries, measureGups } from "./gups.js";
import { PassTimer } from "./pass-times.js";
import { CUCO_BY_LOAD, RETRIEVALS } from "./published.js";
import {
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  byDevice,
  circumstances,
  engineName,
  isRealGpu,
} from "./report.js";
import { measureVariants } from "./retrieve-all/measure.js";
import { checkFilled } from "./static-map-check.js";
import { totalMs } from "./static-map-rows.js";
import { openWorkload, Workload } from "./static-map-workload.js";
import { median, settle, timeInTurn } from "./timing.js";

export const sweeps = ["load"] as const;

const LOADS = [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95];
const WARM_UP_MS = 500;
const PASS_TIMED_CALLS = 5;

/** `options.size`: pairs at load 0.5, half of the slots. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const size = options.size ?? byDevice(device, { gpu: 1e8, cpu: 2 ** 22, software: 2 ** 15 });
  if (!(Number.isInteger(size) && size >= 16 && size <= 2 ** 30)) {
    throw new ValidationError(
      `retrieve-all does not measure ${size} pairs.`,
      "Give a whole number from 16 to 2^30.",
    );
  }
  const runs = options.runs ?? 5;
  const where = circumstances(device);
  options.onProgress?.("copying");
  const { copies } = await measureGups(device, { entries: defaultGupsEntries(device), runs });
  const { operations, timing } = copies[copies.length - 1];
  const copy = operations / timing.median / 1e6;
  const rows: BenchRow[] = [];
  const loads = options.sweep === "load" ? LOADS : [0.5];
  for (const load of loads) rows.push(...(await measureLoad(device, 2 * size, load, copy, runs, options)));
  return {
    bench: "retrieve-all",
    state: "warm loop",
    ...where,
    parameters: {
      ...(options.sweep && { sweep: options.sweep }),
      slots: 2 * size,
      key: "u32",
      value: "u32",
      "copy GB/s": copy,
    },
    rows,
    ...(isRealGpu(device) && {
      published: options.sweep
        ? CUCO_BY_LOAD.filter(({ operation }) => operation === "retrieveAll")
        : RETRIEVALS,
    }),
    notes: [
      "GB/s = 8 bytes × pairs / time. moved GB/s counts 8 bytes read per slot and 8 written per pair; ratio to copy is that over what a copy moves (read + written) in the same run. GB are 10^9 bytes.",
      "Rows of kernels have the time of the kernel alone; the library's has the wall time of the awaited call, and that of its kernels where timestamps tell.",
      "Every kernel and the library were checked: as many pairs as were inserted, each right, none twice.",
    ],
  };
}

async function measureLoad(
  device: Device,
  slots: number,
  load: number,
  copy: number,
  runs: number,
  { signal, onProgress }: BenchOptions,
): Promise<BenchRow[]> {
  const pairs = Math.max(1, Math.floor(slots * load));
  await using map = await StaticMap.create(device, {
    key: "u32",
    value: "u32",
    capacity: slots,
    maxLoadFactor: 1,
  });
  using columns = await openWorkload(device, new Workload(pairs));
  signal?.throwIfAborted();
  onProgress?.(`checking ${pairs} pairs in ${slots} slots`);
  await checkFilled(map, columns);
  const row = (variant: string, tile: number | null, ms: number, fastest: number): BenchRow => {
    const moved = (8 * (slots + pairs)) / ms / 1e6;
    return {
      load,
      variant,
      "tile slots": tile,
      ms,
      "fastest ms": fastest,
      "GB/s": (8 * pairs) / ms / 1e6,
      "moved GB/s": moved,
      "ratio to copy": moved / copy,
    };
  };
  const rows: BenchRow[] = [];
  if (device.gpuDevice) {
    const results = await measureVariants(device, map, columns, runs, (name) => {
      signal?.throwIfAborted();
      onProgress?.(`${name} at load ${load}`);
    });
    rows.push(
      ...results.map(({ variant, timing }) => row(variant.name, variant.tile, timing.median, timing.fastest)),
    );
  }
  onProgress?.(`the library's retrieveAll at load ${load}`);
  const library = await timeLibrary(device, map, runs);
  rows.push(row(`warpmap, ${engineName(device)}`, null, library.wall.median, library.wall.fastest));
  if (library.kernelMs) {
    rows.push(row(`warpmap, ${engineName(device)}, kernels`, null, library.kernelMs, library.kernelMs));
  }
  return rows;
}

async function timeLibrary(device: Device, map: StaticMap, runs: number) {
  const call = () => map.retrieveAll({ output: "device" });
  const after = async (answer: Awaited<ReturnType<typeof call>>) => {
    answer.keys.destroy();
    answer.values.destroy();
    await settle(device);
  };
  const warmUpMs = byDevice(device, { gpu: WARM_UP_MS, cpu: 0, software: 0 });
  const [wall] = await timeInTurn([{ call, after }], { runs, leastTotalMs: 100, warmUpMs });
  const timer = device.gpuDevice ? PassTimer.open(device.gpuDevice) : null;
  if (timer === null) return { wall, kernelMs: null };
  const samples: number[] = [];
  while (samples.length < Math.min(runs, PASS_TIMED_CALLS)) {
    const { times, result } = await timer.time(call);
    await after(result);
    samples.push(totalMs(times));
  }
  timer.destroy();
  return { wall, kernelMs: median(samples) };
}
