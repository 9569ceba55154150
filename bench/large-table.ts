/**
 * The benchmark large-table: a map far larger than one storage buffer binding (2^31 slots, 16 GiB, by default on a GPU) is
 * built, probed, erased from and retrieved, batch by batch, and every answer is checked on the host.
 */
import { type Device, EngineError, StaticMap, ValidationError } from "../src/index.js";
import {
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  byDevice,
  circumstances,
  engineName,
} from "./report.js";
import { Workload } from "./static-map-workload.js";
import { settle } from "./timing.js";

const LOAD_FACTOR = 0.5;
/** Keys of one call. */
const MOST_BATCH = 2 ** 26;
const MISSING = 0xffffffff;

/** `options.size`: slots of the table. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const slots = options.size ?? byDevice(device, { gpu: 2 ** 31, cpu: 2 ** 24, software: 2 ** 16 });
  if (!(Number.isInteger(slots) && slots >= 1024 && slots < 2 ** 32 - 2)) {
    throw new ValidationError(
      `large-table does not measure ${slots} slots.`,
      "Give a whole number from 1024 to 2^32 - 3.",
    );
  }
  const where = circumstances(device);
  const size = Math.floor(slots * LOAD_FACTOR);
  const batch = Math.min(MOST_BATCH, Math.ceil(size / 4));
  const workload = new Workload(size);
  const times = new Map<string, { ms: number; keys: number }>();
  const timed = async <T>(operation: string, keys: number, call: () => Promise<T>): Promise<T> => {
    options.signal?.throwIfAborted();
    const start = performance.now();
    const result = await call();
    const entry = times.get(operation) ?? { ms: 0, keys: 0 };
    times.set(operation, { ms: entry.ms + performance.now() - start, keys: entry.keys + keys });
    return result;
  };
  await using map = await StaticMap.create(device, {
    key: "u32",
    value: "u32",
    capacity: size,
    maxLoadFactor: LOAD_FACTOR,
  });
  const eachBatch = async (label: string, step: (first: number, count: number) => Promise<void>) => {
    for (let first = 0; first < size; first += batch) {
      options.onProgress?.(`${label} ${first} of ${size}`);
      await step(first, Math.min(batch, size - first));
    }
  };
  await warmUp(device, map, workload, batch);
  await eachBatch("insert", async (first, count) => {
    using keys = await device.upload(workload.column("keys", first, count));
    using values = await device.upload(workload.values(first, count));
    const { inserted } = await timed("insert", count, () => map.insert(keys, values));
    expectEqual("inserted", inserted, count);
  });
  expectEqual("size", map.size, size);
  const find = (column: "keys" | "absent", isThere: (number: number) => boolean) =>
    eachBatch(`find ${column}`, async (first, count) => {
      using keys = await device.upload(workload.column(column, first, count));
      const answer = await timed(`find ${column === "keys" ? "present" : "absent"}`, count, () =>
        map.find(keys, { output: "device", missing: MISSING }),
      );
      using values = answer.values;
      using found = answer.found;
      const [value, flag] = [await values.read(), await found.read()];
      for (let i = 0; i < count; i++) {
        const there = isThere(first + i);
        if (flag[i] !== Number(there) || value[i] !== (there ? first + i : MISSING)) {
          throw new EngineError(
            `find of key number ${first + i} (${column}) answers ${value[i]}, ${flag[i]}`,
          );
        }
      }
    });
  await find("keys", () => true);
  await find("absent", () => false);
  // a quarter of the keys goes, in one run of batches
  const gone = Math.floor(size / 4);
  for (let first = 0; first < gone; first += batch) {
    const count = Math.min(batch, gone - first);
    using keys = await device.upload(workload.column("keys", first, count));
    expectEqual("erased", (await timed("erase", count, () => map.erase(keys))).erased, count);
  }
  await find("keys", (number) => number >= gone);
  options.onProgress?.("retrieveAll");
  const pairs = await timed("retrieveAll", size - gone, () => map.retrieveAll());
  expectEqual("pairs", pairs.keys.length, size - gone);
  const seen = new Uint8Array(size);
  for (let i = 0; i < pairs.keys.length; i++) {
    const number = pairs.values[i];
    if (number < gone || number >= size || pairs.keys[i] !== workload.keyOf(number) || seen[number]++ > 0) {
      throw new EngineError(`retrieveAll has the pair ${pairs.keys[i]}, ${number}`);
    }
  }
  const rows: BenchRow[] = [...times].map(([operation, { ms, keys }]) => ({
    slots,
    operation,
    on: engineName(device),
    keys,
    ms,
    "GB/s": (8 * keys) / ms / 1e6,
  }));
  return {
    bench: "large-table",
    state: "after rest",
    ...where,
    parameters: { slots, "table bytes": slots * 8, keys: size, "keys of a call": batch },
    rows,
    notes: [
      "Each row is the sum of all calls of its kind, one run after a batch that does not count, keys and results on the device; retrieveAll brings its pairs to the host.",
      "Every answer was checked on the host: counts, every value and flag, absent keys, erased keys, and each pair once.",
    ],
  };
}

/** One batch in and out again: kernels are compiled and memory is there before anything is timed. */
async function warmUp(device: Device, map: StaticMap, workload: Workload, batch: number): Promise<void> {
  using keys = await device.upload(workload.column("keys", 0, batch));
  await map.insert(keys, keys);
  const { values, found } = await map.find(keys, { output: "device" });
  values.destroy();
  found.destroy();
  await map.erase(keys);
  await map.clear();
  await settle(device);
}

function expectEqual(what: string, have: number, want: number): void {
  if (have !== want) throw new EngineError(`${what}: ${have}, not ${want}`);
}
