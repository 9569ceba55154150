/** Tables of several GPUs with more slots than one GPU's may have: with a small limit, and the arithmetic of 2^33. */
import { afterEach, describe, expect, it } from "vitest";
import { DeviceArray } from "../../../src/engine/device-array.js";
import {
  CapacityError,
  type Device,
  DynamicSet,
  LimitError,
  openDevice,
  StaticMap,
} from "../../../src/index.js";
import { expectSame, rejection } from "../../../test/conformance/helpers/checks.js";
import { counting, uniqueKeys } from "../../../test/conformance/helpers/keys.js";
import { partSlots, statsOfAll } from "../src/several/part-tables.js";
import { overlaps, spansOf } from "../src/several/pieces.js";
import { openSeveral, restoreEngine } from "./helpers/several.js";

afterEach(restoreEngine);

const MOST = 5000;

/** GPUs whose tables have so many slots at most. */
function openLimited(gpus: number, peers: boolean): Promise<Device> {
  openSeveral(new Array(gpus).fill(0), { mostSlots: MOST, peers, least: { round: 1024 } });
  return openDevice({ backend: "cuda", seed: 3 });
}

describe.each([
  [2, true],
  [2, false],
  [3, true],
  [7, false],
])("on %s GPUs, which reach each other: %s", (gpus, peers) => {
  it("a map has the slots of all GPUs' tables, and finds every key", async () => {
    using device = await openLimited(gpus, peers);
    const capacity = (gpus * MOST) / 2;
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity });
    expect(map.slots).toBe(gpus * MOST);
    const keys = uniqueKeys(capacity);
    expect(await map.insert(keys, counting(capacity))).toEqual({ inserted: capacity, existing: 0 });
    expectSame((await map.find(keys)).values, counting(capacity));
    using clone = await map.clone();
    using read = await StaticMap.fromBytes<"u32", "u32">(device, await map.toBytes());
    for (const each of [clone, read]) expectSame((await each.find(keys)).values, counting(capacity));
    await map.rehash({ seed: 9 });
    expectSame((await map.find(keys)).values, counting(capacity));
    const limit = { limit: "slots", need: gpus * MOST + 2, have: gpus * MOST };
    expect(await rejection(map.rehash(capacity + 1), LimitError)).toMatchObject(limit);
    const options = { key: "u32", value: "u32", capacity: capacity + 1 } as const;
    expect(await rejection(StaticMap.create(device, options), LimitError)).toMatchObject(limit);
    expectSame((await map.find(keys)).values, counting(capacity));
  });

  it("a set grows to the limit, and no further", async () => {
    using device = await openLimited(gpus, peers);
    using set = await DynamicSet.create(device, { key: "u64", capacity: 300 });
    const keys = BigUint64Array.from(uniqueKeys((gpus * MOST) / 2), BigInt);
    for (let at = 0; at < keys.length; at += 1900) await set.insert(keys.subarray(at, at + 1900));
    expect([set.size, set.slots]).toEqual([keys.length, gpus * MOST]);
    const more = BigUint64Array.of(1n << 40n, 1n << 41n);
    expect(await rejection(set.insert(more), LimitError)).toMatchObject({
      limit: "slots",
      have: gpus * MOST,
    });
    expect((await set.contains(keys)).every((flag) => flag === 1)).toBe(true);
  });
});

it("a GPU whose table has no slots left rejects keys, also while others have some", async () => {
  using device = await openLimited(2, true);
  const capacity = 2 * MOST;
  using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity, maxLoadFactor: 1 });
  const keys = uniqueKeys(capacity);
  const error = await rejection(map.insert(keys, counting(capacity)), CapacityError);
  // one GPU owns more than half of the keys
  expect(error).toMatchObject({ inserted: map.size, rejected: capacity - map.size });
  expect(map.size).toBeGreaterThan(0.9 * capacity);
  const { values, found } = await map.find(keys);
  const there = counting(capacity).filter((i) => found[i] === 1);
  expect(there.length).toBe(map.size);
  expect(there.every((i) => values[i] === i)).toBe(true);
});

describe("sizes of 2^33", () => {
  it("are shared by two GPUs, each with as many slots as one has", () => {
    expect(partSlots(2 ** 32)).toBe(2 ** 32 - 3);
    expect(partSlots(2 ** 31)).toBe(2 ** 31 + Math.ceil(8 * Math.sqrt(2 ** 31)));
    expect(spansOf(2 ** 33 + 5, 4, 2)).toEqual([
      { gpu: 0, first: 0, count: 2 ** 32 + 1024 },
      { gpu: 1, first: 2 ** 32 + 1024, count: 2 ** 32 - 1019 },
    ]);
  });

  it("have pieces of more elements than a number of 32 bits", () => {
    const array = (length: number) => DeviceArray.of(null as never, "u32", length, null as never);
    const pieces = [2 ** 32, 2 ** 32 + 7].map((length, gpu) => ({
      gpu,
      first: gpu * 2 ** 32,
      array: array(length),
    }));
    const ranges = (start: number, end: number) =>
      overlaps(pieces, start, end).map(({ gpu, from, to }) => [gpu, from, to]);
    expect(ranges(2 ** 32 - 1, 2 ** 32 + 1)).toEqual([
      [0, 2 ** 32 - 1, 2 ** 32],
      [1, 0, 1],
    ]);
    expect(ranges(2 ** 33 + 2, 2 ** 33 + 7)).toEqual([[1, 2 ** 32 + 2, 2 ** 32 + 7]]);
  });

  it("have counts of more than 32 bits in their statistics", () => {
    const part = {
      live: 3 * 2 ** 30,
      tombstones: 2 ** 31,
      probeLengths: Float64Array.of(2 ** 31, 2 ** 30),
      meanProbeLength: 4 / 3,
      maxProbeLength: 2,
    };
    const { probeLengths, ...rest } = statsOfAll([part, part]);
    expect(rest).toEqual({
      live: 3 * 2 ** 31,
      tombstones: 2 ** 32,
      meanProbeLength: 4 / 3,
      maxProbeLength: 2,
    });
    expect([...probeLengths.subarray(0, 3)]).toEqual([2 ** 32, 2 ** 31, 0]);
  });

  it("are the limit of two GPUs, and a fourth of that of eight", async () => {
    for (const gpus of [2, 8]) {
      using device = await openDevice({ backend: "cuda", gpus: new Array(gpus).fill(0) });
      expect(device.engine.traits.maxSlots).toBe(gpus * 2 ** 32);
      const options = { key: "u32", value: "u32", capacity: gpus * 2 ** 32 + 1, maxLoadFactor: 1 } as const;
      const error = await rejection(StaticMap.create(device, options), LimitError);
      expect(error).toMatchObject({ limit: "slots", need: gpus * 2 ** 32 + 1, have: gpus * 2 ** 32 });
    }
  });
});
