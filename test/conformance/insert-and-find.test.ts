import { describe, expect, it } from "vitest";
import { StaticMap, StaticSet } from "../../src/index.js";
import { expectAllSet, expectEvery, expectNoneSet, expectSame } from "./helpers/checks.js";
import { scaled, useDevice } from "./helpers/device.js";
import { counting, keysWithHome, uniqueKeys } from "./helpers/keys.js";
import { Modelled } from "./helpers/model.js";

const device = useDevice();
const newMap = (capacity: number) => StaticMap.create(device(), { key: "u32", value: "u32", capacity });

describe("StaticMap.insertAndFind", () => {
  it("flags every element the first time and none the second, with the same values", async () => {
    using map = await newMap(400);
    const keys = uniqueKeys(400);
    const first = await map.insertAndFind(keys, counting(400));
    expectAllSet(first.isNew, 400);
    expectSame(first.values, counting(400));
    const second = await map.insertAndFind(keys, counting(400, 1000));
    expectNoneSet(second.isNew, 400);
    expectSame(second.values, counting(400));
    expect(map.size).toBe(400);
  });

  it("answers old values for old keys and new ones for new keys", async () => {
    using map = await newMap(300);
    const keys = uniqueKeys(300);
    await map.insert(keys.subarray(100, 200), counting(100));
    const { values, isNew } = await map.insertAndFind(keys, counting(300, 1000));
    expectAllSet(isNew.subarray(0, 100), 100);
    expectNoneSet(isNew.subarray(100, 200), 100);
    expectAllSet(isNew.subarray(200), 100);
    expectSame(values, [...counting(100, 1000), ...counting(100), ...counting(100, 1200)]);
  });

  it("flags exactly one of equal keys, and answers its value to all of them", async () => {
    using map = await newMap(100);
    const model = Modelled.map(map);
    const ids = counting(5000).map((i) => (i * 7919) % 100);
    await model.insertAndFind(ids, counting(5000));
    await model.insertAndFind(ids, counting(5000));
    await model.expectEqual();
  });

  it("flags the element whose value was stored", async () => {
    using map = await newMap(100);
    const ids = counting(5000).map((i) => (i * 7919) % 100);
    const { values, isNew } = await map.insertAndFind(ids, counting(5000));
    isNew.forEach((flag, i) => {
      if (flag) expect(values[i]).toBe(i);
    });
  });

  it("flags one of 100,000 equal keys", async () => {
    using map = await newMap(4);
    const keys = new Uint32Array(100_000).fill(9);
    const { values, isNew } = await map.insertAndFind(keys, counting(100_000));
    expect(isNew.reduce((a, b) => a + b, 0)).toBe(1);
    expect(isNew[values[0]]).toBe(1);
    expectEvery(values, values[0]);
    expect(map.size).toBe(1);
  });

  it("finds keys behind erased ones", async () => {
    using map = await newMap(32);
    const chain = keysWithHome(10, map.slots, 8);
    await map.insert(chain, counting(8));
    await map.erase(chain.subarray(0, 4));
    const { values, isNew } = await map.insertAndFind(chain, counting(8, 100));
    expect(Array.from(isNew)).toEqual([1, 1, 1, 1, 0, 0, 0, 0]);
    expect(Array.from(values)).toEqual([100, 101, 102, 103, 4, 5, 6, 7]);
    expect(map.size).toBe(8);
  });

  it("counts as insert does, with a mask, and with results on the device", async () => {
    using map = await newMap(100);
    using set = await StaticSet.create(device(), { key: "u32", capacity: 100 });
    const keys = counting(120).map((i) => i % 60);
    const where = counting(120).map((i) => Number(i !== 3 && i !== 63)) as never as Uint32Array;
    const mask = Uint8Array.from(where);
    for (const options of [{ mask }, { mask, output: "device" }] as const) {
      await map.clear();
      await set.clear();
      await map.insert(keys.subarray(0, 10), counting(10), { mask: mask.subarray(0, 10) });
      expect(await map.insertAndFind(keys, counting(120), options)).toMatchObject({
        inserted: 50,
        existing: 68,
      });
      expect(await set.insertAndFind(keys, options)).toMatchObject({ inserted: 59, existing: 59 });
      expect(Object.keys(await map.insertAndFind(keys, counting(120), options)).sort()).toEqual([
        "existing",
        "inserted",
        "isNew",
        "values",
      ]);
    }
  });

  it("works on a long batch", async () => {
    const count = scaled(500_000, 100_000);
    using map = await newMap(count);
    const keys = uniqueKeys(count);
    const { values, isNew } = await map.insertAndFind(keys, counting(count));
    expectAllSet(isNew, count);
    expectSame(values, counting(count));
  });
});

describe("StaticSet.insertAndFind", () => {
  it("flags every key the first time and none the second", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 400 });
    const keys = uniqueKeys(400);
    expectAllSet((await set.insertAndFind(keys)).isNew, 400);
    expectNoneSet((await set.insertAndFind(keys)).isNew, 400);
    expect(set.size).toBe(400);
  });

  it("flags exactly one of equal keys", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 100 });
    const model = Modelled.set(set);
    const ids = counting(5000).map((i) => (i * 7919) % 100);
    await model.insertAndFind(ids, ids);
    await model.insertAndFind(ids, ids);
    await model.expectEqual();
  });
});
