import { describe, expect, it } from "vitest";
import { StaticMap, StaticSet } from "../../src/index.js";
import {
  expectAllSet,
  expectEvery,
  expectKeys,
  expectNoneSet,
  expectPairs,
  expectSame,
  pairsByBits,
} from "./helpers/checks.js";
import { scaled, useDevice } from "./helpers/device.js";
import { absentKeys, counting, uniqueKeys } from "./helpers/keys.js";
import { Modelled } from "./helpers/model.js";

const device = useDevice();
const newMap = (capacity: number) => StaticMap.create(device(), { key: "u32", value: "u32", capacity });
const newSet = (capacity: number) => StaticSet.create(device(), { key: "u32", capacity });

describe("StaticMap.insert", () => {
  it("puts every pair in, and nothing else", async () => {
    using map = await newMap(400);
    const keys = uniqueKeys(400);
    expect(await map.insert(keys, counting(400))).toEqual({ inserted: 400, existing: 0 });
    await expectPairs(map, pairsByBits("u32", keys, counting(400)));
    expectNoneSet(await map.contains(absentKeys(400)), 400);
  });

  it("takes dense keys", async () => {
    using map = await newMap(10_000);
    expect(await map.insert(counting(10_000), counting(10_000, 7))).toEqual({
      inserted: 10_000,
      existing: 0,
    });
    expectSame((await map.find(counting(10_000))).values, counting(10_000, 7));
    expectNoneSet(await map.contains(counting(10_000, 10_000)), 10_000);
  });

  it("leaves the value of a key that is there: the first writer wins", async () => {
    using map = await newMap(300);
    const keys = uniqueKeys(300);
    await map.insert(keys.subarray(0, 200), counting(200));
    const again = await map.insert(keys.subarray(100), counting(200, 1000));
    expect(again).toEqual({ inserted: 100, existing: 100 });
    expectSame((await map.find(keys)).values, [...counting(200), ...counting(100, 1100)]);
    expect(map.size).toBe(300);
  });

  it("inserts exactly one of equal keys in a batch, with one of their values", async () => {
    using map = await newMap(100);
    const model = Modelled.map(map);
    const ids = counting(5000).map((i) => (i * 7919) % 100);
    await model.insert("keep", ids, counting(5000));
    expect(map.size).toBe(100);
    await model.expectEqual();
  });

  it("inserts one of 100,000 equal keys", async () => {
    using map = await newMap(10);
    const keys = new Uint32Array(100_000).fill(42);
    expect(await map.insert(keys, counting(100_000))).toEqual({ inserted: 1, existing: 99_999 });
    expect(map.size).toBe(1);
    const { values, found } = await map.find(keys);
    expectAllSet(found, 100_000);
    expect(values[0]).toBeLessThan(100_000);
    expectEvery(values, values[0]);
    expect((await map.retrieveAll()).keys).toEqual(Uint32Array.of(42));
  });

  it("counts keys that come twice in a long batch", async () => {
    const pairs = scaled(500_000, 200_000);
    using map = await newMap(pairs / 2);
    const half = uniqueKeys(pairs / 2);
    const keys = new Uint32Array(pairs);
    keys.set(half);
    keys.set(half, pairs / 2);
    const values = counting(pairs).map((i) => i % (pairs / 2));
    const empty = await map.retrieveAll();
    expect([empty.keys.length, empty.values.length]).toEqual([0, 0]);
    expect(await map.insert(keys, values)).toEqual({ inserted: pairs / 2, existing: pairs / 2 });
    await expectPairs(map, pairsByBits("u32", half, counting(pairs / 2)));
    expectNoneSet(await map.contains(absentKeys(pairs / 2)), pairs / 2);
  });

  it("adds batch after batch", async () => {
    using map = await newMap(1000);
    const keys = uniqueKeys(1000);
    for (let start = 0; start < 1000; start += 125) {
      const end = start + 125;
      await map.insert(keys.subarray(start, end), counting(125, start));
      expect(map.size).toBe(end);
      expectAllSet(await map.contains(keys.subarray(0, end)), end);
      expectNoneSet(await map.contains(keys.subarray(end)), 1000 - end);
    }
    expectSame((await map.find(keys)).values, counting(1000));
  });
});

describe("StaticSet.insert", () => {
  it("puts every key in, and nothing else", async () => {
    using set = await newSet(400);
    const keys = uniqueKeys(400);
    expect(await set.insert(keys)).toEqual({ inserted: 400, existing: 0 });
    await expectKeys(set, keys);
    expectNoneSet(await set.contains(absentKeys(400)), 400);
    expect(await set.insert(keys)).toEqual({ inserted: 0, existing: 400 });
    await expectKeys(set, keys);
  });

  it("inserts exactly one of equal keys in a batch", async () => {
    using set = await newSet(100);
    const ids = counting(5000).map((i) => (i * 7919) % 100);
    expect(await set.insert(ids)).toEqual({ inserted: 100, existing: 4900 });
    await expectKeys(set, counting(100));
  });

  it("inserts one of 100,000 equal keys", async () => {
    using set = await newSet(1);
    expect(await set.insert(new Uint32Array(100_000))).toEqual({ inserted: 1, existing: 99_999 });
    await expectKeys(set, [0]);
  });
});
