import { describe, expect, it } from "vitest";
import { StaticMap, StaticSet } from "../../src/index.js";
import { expectAllSet, expectEvery, expectKeys, expectNoneSet, expectSame } from "./helpers/checks.js";
import { isForced, scaled, useDevice } from "./helpers/device.js";
import { counting, uniqueKeys } from "./helpers/keys.js";
import { Modelled } from "./helpers/model.js";

const device = useDevice();
const newMap = (capacity: number) => StaticMap.create(device(), { key: "u32", value: "u32", capacity });
const newSet = (capacity: number) => StaticSet.create(device(), { key: "u32", capacity });

/** 1 for every element whose index has the remainder 0. */
const everyNth = (n: number, count: number) =>
  Uint8Array.from({ length: count }, (_, i) => (i % n === 0 ? 1 : 0));

describe("mask", () => {
  it("leaves elements out of insert: only even keys go in", async () => {
    using map = await newMap(400);
    using set = await newSet(400);
    const [keys, even] = [uniqueKeys(400), everyNth(2, 400)];
    expect(await map.insert(keys, counting(400), { mask: even })).toEqual({ inserted: 200, existing: 0 });
    expect(await set.insert(keys, { mask: even })).toEqual({ inserted: 200, existing: 0 });
    expectSame(await map.contains(keys), even);
    expectSame(await set.contains(keys), even);
    await expectKeys(
      set,
      keys.filter((_, i) => even[i]),
    );
  });

  it("leaves elements out of contains and find: only even keys are looked up", async () => {
    using map = await newMap(400);
    using set = await newSet(400);
    const [keys, even] = [uniqueKeys(400), everyNth(2, 400)];
    await map.insert(keys, counting(400));
    await set.insert(keys);
    expectSame(await map.contains(keys, { mask: even }), even);
    expectSame(await set.contains(keys, { mask: even }), even);
    const { values, found } = await map.find(keys, { mask: even, missing: 999 });
    expectSame(found, even);
    expectSame(
      values,
      counting(400).map((i) => (even[i] ? i : 999)),
    );
    const inSet = await set.find(keys, { mask: even, missing: 999 });
    expectSame(inSet.found, even);
    expectSame(
      inSet.keys,
      keys.map((key, i) => (even[i] ? key : 999)),
    );
  });

  it("leaves elements out of every call that changes a map", async () => {
    using map = await newMap(200);
    const model = Modelled.map(map);
    const keys = uniqueKeys(600).map((n) => n % 200);
    await model.insert("keep", keys, counting(600), everyNth(2, 600));
    await model.insert("assign", keys, counting(600, 1000), everyNth(3, 600));
    await model.insert("add", keys, counting(600, 2000), everyNth(5, 600));
    await model.insertAndFind(keys, counting(600, 3000), everyNth(7, 600));
    await model.expectEqual();
    await model.erase(keys, everyNth(4, 600));
    await model.find(keys, 5, everyNth(2, 600));
    await model.contains(keys, everyNth(3, 600));
    await model.expectEqual();
  });

  it("of one of several equal keys chooses that one", async () => {
    using map = await newMap(10);
    const keys = new Uint32Array(1000).fill(3);
    const where = new Uint8Array(1000);
    where[617] = 1;
    expect(await map.insert(keys, counting(1000), { mask: where })).toEqual({ inserted: 1, existing: 0 });
    expect((await map.find(keys.subarray(0, 1))).values[0]).toBe(617);
    where[617] = 0;
    where[3] = 1;
    expect(await map.insertOrAssign(keys, counting(1000), { mask: where })).toEqual({
      inserted: 0,
      assigned: 1,
    });
    expect((await map.find(keys.subarray(0, 1))).values[0]).toBe(3);
    const { isNew } = await map.insertAndFind(keys, counting(1000), { mask: where });
    expectNoneSet(isNew, 1000);
    expect(await map.erase(keys, { mask: where })).toEqual({ erased: 1 });
  });

  it("takes any byte but 0 as yes", async () => {
    using set = await newSet(256);
    expect(await set.insert(counting(256), { mask: Uint8Array.from(counting(256)) })).toEqual({
      inserted: 255,
      existing: 0,
    });
    await expectKeys(set, counting(255, 1));
  });

  it("of nothing but 0 does nothing, and of nothing but 1 everything", async () => {
    using map = await newMap(100);
    const [keys, none, all] = [uniqueKeys(100), new Uint8Array(100), new Uint8Array(100).fill(1)];
    expect(await map.insert(keys, keys, { mask: none })).toEqual({ inserted: 0, existing: 0 });
    expect(map.size).toBe(0);
    expect(await map.insert(keys, keys, { mask: all })).toEqual({ inserted: 100, existing: 0 });
    expect(await map.erase(keys, { mask: none })).toEqual({ erased: 0 });
    expectNoneSet(await map.contains(keys, { mask: none }), 100);
    expectAllSet(await map.contains(keys, { mask: all }), 100);
    const { values, found } = await map.find(keys, { mask: none, missing: 6 });
    expectEvery(values, 6);
    expectNoneSet(found, 100);
  });

  it("counts only the elements it chooses", async () => {
    using map = await newMap(50);
    const keys = counting(1000).map((i) => i % 50);
    const where = everyNth(10, 1000);
    expect(await map.insertOrApply(keys, new Uint32Array(1000).fill(1), "add", { mask: where })).toEqual({
      inserted: 5,
      applied: 95,
    });
    expectEvery((await map.retrieveAll()).values, 20);
  });

  it("works for every length of mask, and from any byte of a larger array", async () => {
    using set = await newSet(300);
    for (const count of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 33, 255, 256, 257]) {
      for (const offset of [0, 1, 2, 3]) {
        const where = new Uint8Array(count + offset + 5).fill(1).subarray(offset, offset + count);
        where.set(everyNth(3, count));
        expect((await set.insert(counting(count), { mask: where })).inserted).toBe(Math.ceil(count / 3));
        expectSame(await set.contains(counting(count)), where);
        await set.clear();
      }
    }
  });

  it("works on a long batch", async () => {
    const count = scaled(500_000, isForced ? 20_000 : 150_000);
    using map = await newMap(count);
    const [keys, where] = [uniqueKeys(count), everyNth(3, count)];
    const chosen = Math.ceil(count / 3);
    expect(await map.insert(keys, counting(count), { mask: where })).toEqual({
      inserted: chosen,
      existing: 0,
    });
    expectSame(await map.contains(keys), where);
    expect(await map.insert(keys, counting(count))).toEqual({ inserted: count - chosen, existing: chosen });
    expect(await map.erase(keys, { mask: where })).toEqual({ erased: chosen });
    expectSame(
      await map.contains(keys),
      where.map((flag) => 1 - flag),
    );
  });
});
