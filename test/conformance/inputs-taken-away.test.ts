/**
 * Arrays that the caller transfers, or cuts short, while a call works on them: the call ends in a ValidationError, and the table
 * stays valid, without keys or values that nobody gave.
 */
import { expect, it } from "vitest";
import { StaticMap, StaticMultimap, StaticSet, ValidationError } from "../../src/index.js";
import { BloomFilter } from "../../src/sketches/index.js";
import { expectSoundStats } from "./helpers/checks.js";
import { onGpu, openTestDevice, scaled, useDevice } from "./helpers/device.js";

const device = useDevice();
/** Chunks of the cpu engine have 2^18. */
const LENGTH = scaled(2 ** 18 + 2 ** 14, 40_000);
const partner = (key: number) => Math.imul(key, 7) + 1;

type Resizable = new (
  bytes: number,
  options: { maxByteLength: number },
) => ArrayBuffer & {
  resize(bytes: number): void;
};

/** Ways to make an array of so many elements, and to take it away. */
const ways = {
  transferred: () => {
    const array = new Uint32Array(LENGTH);
    return { array, takeAway: () => void structuredClone(array.buffer, { transfer: [array.buffer] }) };
  },
  "of a buffer that shrinks": () => {
    const buffer = new (ArrayBuffer as unknown as Resizable)(4 * LENGTH, { maxByteLength: 4 * LENGTH });
    return { array: new Uint32Array(buffer, 0, LENGTH), takeAway: () => buffer.resize(64) };
  },
  "as long as a buffer that shrinks": () => {
    const buffer = new (ArrayBuffer as unknown as Resizable)(4 * LENGTH, { maxByteLength: 4 * LENGTH });
    return { array: new Uint32Array(buffer), takeAway: () => buffer.resize(64) };
  },
};

type TestMap = StaticMap<"u32", "u32">;
type Options = { onProgress: () => void };
/** Calls by what is taken away. No key is 0, and no value is. */
const calls: Record<string, (map: TestMap, array: Uint32Array, options: Options) => Promise<unknown>> = {
  "keys of insert": (map, keys, options) => map.insert(keys, keys.map(partner), options),
  "values of insert": (map, values, options) => map.insert(own(), values, options),
  "values of insertOrAssign": (map, values, options) => map.insertOrAssign(own(), values, options),
  "values of insertOrApply": (map, values, options) => map.insertOrApply(own(), values, "max", options),
  "keys of insertAndFind": (map, keys, options) => map.insertAndFind(keys, keys.map(partner), options),
  "keys of find": (map, keys, options) => map.find(keys, options),
  "keys of contains": (map, keys, options) => map.contains(keys, options),
  "keys of contains, to the device": (map, keys, options) =>
    map.contains(keys, { ...options, output: "device" }),
  "keys of erase": (map, keys, options) => map.erase(keys, options),
  "the last of equal keys": (map, keys, options) =>
    map.insertOrAssign(keys, keys.map(partner), { ...options, duplicates: "last" }),
  "results of find": (map, values, options) =>
    map.find(own(), { ...options, into: { values, found: new Uint8Array(LENGTH) } }),
};

const own = () => Uint32Array.from({ length: LENGTH }, (_, i) => i + 1);

const wayNames = Object.keys(ways) as (keyof typeof ways)[];

it.each(Object.entries(calls))("%s", async (name, call) => {
  // every call in two ways, and all ways over the calls
  const first = Object.keys(calls).indexOf(name);
  for (const [i, when] of ["after its beginning", "with its first chunk"].entries()) {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 2 * LENGTH });
    const { array, takeAway } = ways[wayNames[(first + i) % wayNames.length]]();
    const ofValues = name.startsWith("values");
    for (let k = 0; k < LENGTH; k++) array[k] = ofValues ? partner(k + 1) : k + 1;
    const { inUse } = device().memory;
    let taken = false;
    const take = () => {
      if (!taken) takeAway();
      taken = true;
    };
    const onProgress = when === "with its first chunk" ? take : () => {};
    const answer = call(map as unknown as TestMap, array, { onProgress });
    if (when === "after its beginning") queueMicrotask(take);
    const error = await answer.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as Error).message).toMatch(/detached/);
    expect(device().memory.inUse).toBeLessThanOrEqual(inUse);
    const { keys, values } = await map.retrieveAll();
    expect(keys.every((key, k) => key >= 1 && key <= LENGTH && values[k] === partner(key) >>> 0)).toBe(true);
    expect(map.size).toBe(keys.length);
    await expectSoundStats(map);
  }
});

it("keys and values of sets, multimaps and filters", async () => {
  using set = await StaticSet.create(device(), { key: "u32", capacity: LENGTH });
  using lists = await StaticMultimap.create(device(), { key: "u32", value: "u32", capacity: LENGTH });
  using filter = await BloomFilter.create(device(), { key: "u32", capacity: LENGTH });
  const runs = [
    (keys: Uint32Array, options: Options) => set.insert(keys, options),
    (keys: Uint32Array, options: Options) => lists.insert(keys, own(), options),
    (values: Uint32Array, options: Options) => lists.insert(own(), values, options),
    (keys: Uint32Array, options: Options) => lists.count(keys, options),
    (keys: Uint32Array, options: Options) => filter.add(keys, options),
  ];
  for (const run of runs) {
    const { array, takeAway } = ways.transferred();
    array.set(own());
    let taken = false;
    const onProgress = () => {
      if (!taken) takeAway();
      taken = true;
    };
    await expect(run(array, { onProgress })).rejects.toThrow(/detached/);
  }
  expect(await set.contains(Uint32Array.of(0))).toEqual(Uint8Array.of(0));
  expect(await lists.contains(Uint32Array.of(0))).toEqual(Uint8Array.of(0));
});

// GPUs share nothing with threads
it.each(onGpu ? [] : [3])(
  "calls that share their chunks with %i threads, taken away whenever",
  async (threads) => {
    using shared = await openTestDevice({ threads } as never);
    for (let ticks = 0; ticks < 6; ticks++) {
      using map = await StaticMap.create(shared, { key: "u32", value: "u32", capacity: 2 * LENGTH });
      const { array: keys, takeAway } = ways.transferred();
      keys.set(own());
      const answer = map.insert(keys, own().map(partner), { strategy: "partitioned" });
      for (let i = 0; i < 3 * ticks; i++) await null;
      if (ticks % 3 === 2) await new Promise((resolve) => setTimeout(resolve, ticks));
      takeAway();
      const error = await answer.catch((thrown: unknown) => thrown);
      if (error instanceof Error) expect(error).toBeInstanceOf(ValidationError);
      else expect(error).toEqual({ inserted: LENGTH, existing: 0 });
      const entries = await map.retrieveAll();
      expect(entries.keys.every((key, i) => key > 0 && entries.values[i] === partner(key) >>> 0)).toBe(true);
      await expectSoundStats(map);
    }
  },
);
