/**
 * The benchmark growth: a DynamicMap of u32 to u32 with room for few pairs takes eight batches of new keys, then all keys are looked up;
 * beside it a StaticMap that is made large enough at once. Every find is checked, key by key, before anything is timed.
 */
import { type Device, DynamicMap, EngineError, StaticMap, ValidationError } from "../src/index.js";
import { type Batch, batchOf } from "./batches.js";
import { CUCO_GROWTH } from "./published.js";
import {
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  byDevice,
  circumstances,
  engineName,
  isRealGpu,
} from "./report.js";
import { checkFound, MISSING } from "./static-map-check.js";
import { type DeviceWorkload, openWorkload, Workload } from "./static-map-workload.js";
import { settle, stopwatch, summarise } from "./timing.js";

const BATCHES = 8;
/** Pairs that the DynamicMap has room for at first: so many, or a 64th of all if that is less. */
const FIRST_CAPACITY = 2 ** 16;
const LEAST_SIZE = 64;
const MOST_SIZE = 2 ** 28;
const RUNS = 5;
/** Milliseconds of unmeasured maps: a GPU that has rested needs half a second of load for its clocks. */
const WARM_UP_MS = { gpu: 700, cpu: 0, software: 0 };

/** The smaller one first: the device tells the most memory that was in use so far. */
const KINDS = ["StaticMap", "DynamicMap"] as const;
type Kind = (typeof KINDS)[number];

/** Milliseconds of what one map goes through. */
interface Life {
  readonly create: number;
  readonly batches: readonly number[];
  readonly find: number;
}

/** `options.size`: pairs in the end. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const size = options.size ?? byDevice(device, { gpu: 2 ** 27, cpu: 2 ** 22, software: 2 ** 14 });
  if (!(Number.isInteger(size) && size >= LEAST_SIZE && size <= MOST_SIZE)) {
    throw new ValidationError(
      `growth does not measure ${size} pairs.`,
      `Give a whole number from ${LEAST_SIZE} to 2^28.`,
    );
  }
  const capacity = Math.min(FIRST_CAPACITY, Math.ceil(size / 64));
  const where = circumstances(device);
  const step = (what: string) => {
    options.signal?.throwIfAborted();
    options.onProgress?.(`${what}, ${size} pairs`);
  };
  step("keys");
  using columns = await openWorkload(device, new Workload(size));
  using made = await openRun(device, columns, capacity);
  const rows: BenchRow[] = [];
  const peaks = new Map<Kind, number | null>();
  for (const kind of KINDS) {
    step(`checking a ${kind}`);
    peaks.set(kind, await made.check(kind));
  }
  const lives: Record<Kind, Life[]> = { StaticMap: [], DynamicMap: [] };
  const start = performance.now();
  const warmUpMs = byDevice(device, WARM_UP_MS);
  while (performance.now() - start < warmUpMs) for (const kind of KINDS) await made.live(kind);
  for (let i = 0; i < (options.runs ?? RUNS); i++) {
    step(`run ${i + 1}`);
    for (const kind of KINDS) lives[kind].push(await made.live(kind));
  }
  for (const kind of KINDS) rows.push(...rowsOf(device, kind, columns, lives[kind], peaks.get(kind) ?? null));
  return {
    bench: "growth",
    state: "fresh table",
    ...where,
    parameters: {
      pairs: size,
      batches: BATCHES,
      "first capacity": capacity,
      key: "u32",
      value: "u32",
      maxLoadFactor: 0.5,
    },
    rows,
    ...(isRealGpu(device) && { published: CUCO_GROWTH }),
    notes: [
      "ms is the median wall time of the awaited call, or of all eight, keys, values and results on the device. The maps take turns. G/s are 10^9 keys a second.",
      "peak MiB is the most memory in use until all pairs are in, besides keys and values; none where more was in use before.",
      "Before they were timed, maps of both kinds were checked: pairs inserted, and every key found with its value.",
    ],
  };
}

/** Makes maps and fills them with the keys of a workload. */
async function openRun(device: Device, columns: DeviceWorkload, capacity: number) {
  const { workload } = columns;
  const { size } = workload;
  const length = Math.ceil(size / BATCHES);
  const batches: Batch[] = [];
  for (let first = 0; first < size; first += length) {
    batches.push(await batchOf(device, columns, first, Math.min(length, size - first)));
  }
  const lookups = await columns.lookups();
  const types = { key: "u32", value: "u32" } as const;
  const create = (kind: Kind) =>
    kind === "StaticMap"
      ? StaticMap.create(device, { ...types, capacity: size })
      : DynamicMap.create(device, { ...types, capacity });
  const live = async (
    kind: Kind,
    inspect?: (map: StaticMap | DynamicMap) => Promise<void>,
  ): Promise<Life> => {
    await settle(device);
    const lap = stopwatch();
    await using map = await create(kind);
    const created = lap();
    const times: number[] = [];
    for (const { keys, values } of batches) {
      const { inserted } = await map.insert(keys, values);
      times.push(lap());
      if (inserted !== keys.length) throw wrong(`${inserted} of ${keys.length} new keys were inserted`);
      lap();
    }
    await inspect?.(map);
    lap();
    const answer = await map.find(lookups, { output: "device", missing: MISSING });
    const find = lap();
    if (inspect) await checkFound(columns, "lookups", "all", answer);
    for (const array of [answer.values, answer.found]) array.destroy();
    return { create: created, batches: times, find };
  };
  return {
    live: (kind: Kind) => live(kind),
    /** Checks a map of a kind; answers the bytes that it and its inserts took at most, if the device tells. */
    async check(kind: Kind): Promise<number | null> {
      const before = device.memory;
      let bytes: number | null = null;
      await live(kind, async (map) => {
        if (map.size !== size) throw wrong(`a ${kind} of ${size} pairs has ${map.size}`);
        const { peak } = device.memory;
        if (peak > before.peak) bytes = peak - before.inUse;
      });
      return bytes;
    },
    [Symbol.dispose]() {
      for (const { keys, values } of batches) for (const array of [keys, values]) array.destroy();
    },
  };
}

function rowsOf(
  device: Device,
  map: Kind,
  { workload: { size } }: DeviceWorkload,
  lives: readonly Life[],
  peak: number | null,
): BenchRow[] {
  const row = (operation: string, keys: number | null, samples: readonly number[]): BenchRow => {
    const { median, fastest, runs } = summarise(samples);
    const rate = keys === null ? null : keys / median / 1e6;
    return {
      map,
      on: engineName(device),
      operation,
      keys,
      ms: median,
      "fastest ms": fastest,
      runs,
      "G/s": rate,
    };
  };
  const sums = lives.map(({ batches }) => batches.reduce((sum, ms) => sum + ms, 0));
  const length = Math.ceil(size / BATCHES);
  const creates = lives.map(({ create }) => create);
  const finds = lives.map(({ find }) => find);
  return [
    row("create", null, creates),
    ...lives[0].batches.map((_, i) =>
      row(
        `insert, batch ${i + 1}`,
        Math.min(length, size - i * length),
        lives.map(({ batches }) => batches[i]),
      ),
    ),
    { ...row("all inserts", size, sums), "peak MiB": peak === null ? null : peak / 2 ** 20 },
    row("find of all", size, finds),
  ];
}

function wrong(what: string): EngineError {
  return new EngineError(`growth: ${what}.`);
}
