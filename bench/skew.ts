/**
 * The benchmark skew: insert, insertOrApply add and find of keys that repeat, by Zipf distributions with exponents from 0
 * (every key as likely) to 1.5, up to all keys equal, beside keys of which none repeats. Keys are drawn on the host, exactly
 * (zipf.ts), with one seed for all devices.
 */
import { type Device, type DeviceArray, EngineError, StaticMap, ValidationError } from "../src/index.js";
import { mix } from "./mix.js";
import {
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  byDevice,
  circumstances,
  engineName,
} from "./report.js";
import { Workload } from "./static-map-workload.js";
import { settle, type TimedCall, timeInTurn } from "./timing.js";
import { zipfNumbers } from "./zipf.js";

const EXPONENTS = [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5];
/** Memory that was allocated or freed slows a GPU for some hundred milliseconds. */
const WARM_UP_MS = 600;

/** Keys by their numbers. */
interface Distribution {
  readonly name: string;
  /** Of a Zipf distribution. */
  readonly exponent: number | null;
  draw(size: number): { numbers: Uint32Array; distinct: number };
}

const DISTRIBUTIONS: readonly Distribution[] = [
  {
    name: "unique",
    exponent: null,
    draw: (size) => ({ numbers: new Workload(size).values(), distinct: size }),
  },
  ...EXPONENTS.map((exponent) => ({
    name: `zipf(${exponent})`,
    exponent,
    draw: (size: number) => zipfNumbers(size, exponent, size),
  })),
  {
    name: "all equal",
    exponent: null,
    draw: (size) => ({ numbers: new Uint32Array(size).fill(7), distinct: 1 }),
  },
];

/** `options.size`: keys of a batch, and numbers that they are drawn from. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const size = options.size ?? byDevice(device, { gpu: 2 ** 25, cpu: 2 ** 20, software: 2 ** 13 });
  if (!(Number.isInteger(size) && size >= 8 && size <= 2 ** 28)) {
    throw new ValidationError(`skew does not measure ${size} keys.`, "Give a whole number from 8 to 2^28.");
  }
  const runs = options.runs ?? 5;
  const where = circumstances(device);
  const rows: BenchRow[] = [];
  await using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: size });
  for (const distribution of DISTRIBUTIONS) {
    options.signal?.throwIfAborted();
    options.onProgress?.(`${size} keys, ${distribution.name}`);
    rows.push(...(await measure(device, map, distribution, size, runs)));
  }
  return {
    bench: "skew",
    state: "warm loop",
    ...where,
    parameters: { keys: size, key: "u32", value: "u32", "load factor of unique keys": 0.5, seed: 1 },
    rows,
    notes: [
      "ms is the median wall time of the awaited call, inputs and results on the device. GB/s = 8 bytes × keys / time, repeated keys counted each time.",
      "zipf(s) draws number r with a probability in proportion to r^-s, exactly (rejection-inversion on the host, in doubles), out of as many numbers as keys; zipf(0) is uniform, so keys repeat there too.",
      "Before they were timed, the calls were checked: distinct keys counted exactly, the sums of insertOrApply key by key, every look-up's value.",
    ],
  };
}

async function measure(
  device: Device,
  map: StaticMap,
  distribution: Distribution,
  size: number,
  runs: number,
): Promise<BenchRow[]> {
  const { numbers, distinct } = distribution.draw(size);
  using values = await device.upload(numbers);
  using ones = await device.upload(new Uint32Array(size).fill(1));
  using keys = await device.upload(numbers.map(mix));
  await check(map, { keys, values, ones }, numbers, distinct);
  const empty = async () => {
    await map.clear();
    await settle(device);
  };
  const calls: Record<string, TimedCall> = {
    insert: { before: empty, call: () => map.insert(keys, values) },
    "insertOrApply add": { before: empty, call: () => map.insertOrApply(keys, ones, "add") },
    find: {
      before: async () => {
        if (map.size === 0) await map.insert(keys, values);
        await settle(device);
      },
      call: () => map.find(keys, { output: "device" }),
      after: async (answer: { values: DeviceArray; found: DeviceArray }) => {
        for (const array of [answer.values, answer.found]) array.destroy();
        await settle(device);
      },
    },
  };
  const rows: BenchRow[] = [];
  for (const [operation, call] of Object.entries(calls)) {
    const warmUpMs = byDevice(device, { gpu: WARM_UP_MS, cpu: 0, software: 0 });
    const [{ median, fastest }] = await timeInTurn([call], { runs, leastTotalMs: 0, warmUpMs });
    rows.push({
      keys: distribution.name,
      exponent: distribution.exponent,
      distinct,
      operation,
      on: engineName(device),
      ms: median,
      "fastest ms": fastest,
      "G ops/s": size / median / 1e6,
      "GB/s": (8 * size) / median / 1e6,
    });
  }
  return rows;
}

async function check(
  map: StaticMap,
  { keys, values, ones }: Record<"keys" | "values" | "ones", DeviceArray<"u32">>,
  numbers: Uint32Array,
  distinct: number,
): Promise<void> {
  const repeated = numbers.length - distinct;
  await map.clear();
  const counted = await map.insertOrApply(keys, ones, "add");
  if (counted.inserted !== distinct || counted.applied !== repeated) {
    throw wrong(`insertOrApply counted ${counted.inserted} of ${distinct} distinct keys`);
  }
  const times = new Uint32Array(numbers.length);
  for (const number of numbers) times[number]++;
  const sums = await map.find(keys);
  for (let i = 0; i < numbers.length; i++) {
    if (sums.values[i] !== times[numbers[i]]) throw wrong(`the sum of key number ${numbers[i]} is wrong`);
  }
  await map.clear();
  const tally = await map.insert(keys, values);
  if (tally.inserted !== distinct || tally.existing !== repeated) {
    throw wrong(`insert counted ${tally.inserted} of ${distinct} distinct keys`);
  }
  const answer = await map.find(keys);
  for (let i = 0; i < numbers.length; i++) {
    if (answer.found[i] !== 1 || answer.values[i] !== numbers[i]) {
      throw wrong(`key number ${numbers[i]} was not found with its value`);
    }
  }
}

function wrong(what: string): EngineError {
  return new EngineError(`skew: ${what}.`);
}
