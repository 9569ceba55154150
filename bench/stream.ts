/**
 * The benchmark stream: insert and find of keys that lie in host memory, results back in host memory, beside what the link
 * between host and device can move. On the cpu engine there is no link, and the figures are those of the call alone. The ways to
 * hand columns over are in stream-ways.ts.
 */
import { type Device, LimitError, StaticMap, ValidationError } from "../src/index.js";
import { type LinkRate, linkGigabytes, measureLink } from "./link.js";
import {
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  byDevice,
  circumstances,
  engineName,
} from "./report.js";
import { MOST_KEYS, Workload } from "./static-map-workload.js";
import { checkWay, type Way, Ways } from "./stream-ways.js";
import { settle, type TimedCall, timeInTurn } from "./timing.js";

const LOAD_FACTOR = 0.8;
/** Bytes a key: keys and values go up; keys go up, values and found flags come down. */
const BYTES = { insert: { up: 8, down: 0 }, find: { up: 4, down: 5 } } as const;

/** `options.size`: keys. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  if (options.size !== undefined) checkSize(options.size);
  const sizes =
    options.size !== undefined
      ? [options.size]
      : byDevice(device, { gpu: [2 ** 28, 2 ** 26], cpu: [2 ** 22], software: [2 ** 17] });
  const where = circumstances(device);
  const runs = options.runs ?? 3;
  const notes = [
    "ms is the median wall time of the awaited call. G keys/s = keys / time; GB/s counts all bytes that cross the link: 8 up a pair for insert, 4 up and 5 down a key for find.",
    "host to host: from typed arrays to new typed arrays. arrays used again: results go into typed arrays that were written before. pinned arrays: columns in, results out in memory that the device copies from and to by itself. Each way is warmed up and timed by itself, so that none pays for freeing the arrays of another.",
    "Before it was timed, each way was checked: every key inserted, every key found with its value.",
  ];
  const link = await linkOf(device, options, runs);
  if (link.length > 0) {
    notes.push(
      "link alone: copies between device memory and mapped memory of the host. copy into, copy out of mapped memory: what the host does, which is one thread's copy. device.upload and DeviceArray.read: this library, through staging buffers that it keeps. part of link: the time that the larger direction needs by the link alone, over the time of the call; both directions can be busy at once.",
    );
  }
  const rows: BenchRow[] = link.map((rate) => ({
    operation: rate.name,
    bytes: rate.bytes,
    ms: rate.timing.median,
    "fastest ms": rate.timing.fastest,
    "GB/s": linkGigabytes(rate),
  }));
  for (const [i, size] of sizes.entries()) {
    try {
      rows.push(...(await measureSize(device, size, link, runs, options)));
      break;
    } catch (error) {
      if (!(error instanceof LimitError) || i === sizes.length - 1) throw error;
      notes.push(`${size} keys do not fit this device. ${error.message}`);
    }
  }
  return {
    bench: "stream",
    state: "warm loop",
    ...where,
    parameters: { key: "u32", value: "u32", "load factor": LOAD_FACTOR },
    rows,
    notes,
  };
}

function checkSize(size: number): void {
  if (Number.isInteger(size) && size >= 1 && size <= MOST_KEYS) return;
  throw new ValidationError(`stream does not measure ${size} keys.`, "Give a whole number from 1 to 2^31.");
}

async function linkOf(device: Device, { onProgress }: BenchOptions, runs: number): Promise<LinkRate[]> {
  if (!device.gpuDevice) return [];
  onProgress?.("the link");
  return measureLink(device, byDevice(device, { gpu: 2 ** 28, cpu: 0, software: 2 ** 20 }), runs);
}

async function measureSize(
  device: Device,
  size: number,
  link: readonly LinkRate[],
  runs: number,
  { signal, onProgress }: BenchOptions,
): Promise<BenchRow[]> {
  await using map = await StaticMap.create(device, {
    key: "u32",
    value: "u32",
    capacity: size,
    maxLoadFactor: LOAD_FACTOR,
  });
  signal?.throwIfAborted();
  const workload = new Workload(size);
  using ways = await Ways.open(device, map, workload);
  for (const way of ways.all) {
    signal?.throwIfAborted();
    onProgress?.(`checking ${size} keys, ${way.name}`);
    await checkWay(map, workload, way);
  }
  const rows: BenchRow[] = [];
  const warmUpMs = byDevice(device, { gpu: 1000, cpu: 0, software: 0 });
  for (const operation of ["insert", "find"] as const) {
    signal?.throwIfAborted();
    onProgress?.(`${operation} of ${size} keys`);
    const { up, down } = BYTES[operation];
    const floor = floorMs(link, size * up, size * down);
    for (const way of ways.all) {
      const timed = callOf(device, map, way, operation);
      if (timed === null) continue;
      const [{ median, fastest }] = await timeInTurn([timed], { runs, leastTotalMs: 0, warmUpMs });
      rows.push({
        operation: `${operation}, ${way.name}`,
        on: engineName(device),
        size,
        bytes: size * (up + down),
        ms: median,
        "fastest ms": fastest,
        "GB/s": (size * (up + down)) / median / 1e6,
        "G keys/s": size / median / 1e6,
        ...(floor !== null && { "part of link": floor / median }),
      });
    }
  }
  return rows;
}

/** A way's call as it is timed: insert into a cleared map, find in a full one. Null where the way has none. */
function callOf(
  device: Device,
  map: StaticMap,
  { insert, find }: Way,
  operation: keyof typeof BYTES,
): TimedCall | null {
  if (operation === "find") return { call: find };
  if (!insert) return null;
  const before = async () => {
    await map.clear();
    await settle(device);
  };
  return { before, call: insert };
}

/** Milliseconds that the link alone needs, both directions at once. */
function floorMs(link: readonly LinkRate[], up: number, down: number): number | null {
  const rate = (direction: "up" | "down") => link.find((each) => each.alone && each.direction === direction);
  const [upward, downward] = [rate("up"), rate("down")];
  if (!upward || !downward) return null;
  return Math.max(up / linkGigabytes(upward), down / linkGigabytes(downward)) / 1e6;
}
