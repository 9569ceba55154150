import { describe, expect, it } from "vitest";
import { murmur3 } from "../../src/engine/hash.js";
import { CapacityError, StaticMap, StaticSet } from "../../src/index.js";
import { expectAllSet, expectEvery, expectNoneSet, expectSame, rejection } from "./helpers/checks.js";
import { scaled, useDevice } from "./helpers/device.js";
import { absentKeys, counting, keysWithHome, uniqueKeys } from "./helpers/keys.js";
import { Modelled } from "./helpers/model.js";

const device = useDevice();
const newMap = (capacity: number) =>
  StaticMap.create(device(), { key: "u32", value: "u32", capacity, maxLoadFactor: 1 });
const newSet = (capacity: number) => StaticSet.create(device(), { key: "u32", capacity, maxLoadFactor: 1 });

describe("an exactly full table", () => {
  for (const slots of [1, 2, 3, 64, 257, 4096]) {
    it(`of ${slots} slots takes ${slots} keys and answers every call`, async () => {
      using map = await newMap(slots);
      const model = Modelled.map(map);
      const keys = uniqueKeys(slots);
      await model.insert("keep", keys, counting(slots));
      expect([map.size, map.loadFactor]).toEqual([slots, 1]);
      await model.expectEqual();
      expectNoneSet(await map.contains(absentKeys(200)), 200);
      expect(await map.erase(absentKeys(200))).toEqual({ erased: 0 });
      await model.insert("keep", keys, counting(slots, 7));
      await model.insert("assign", keys, counting(slots, 8));
      await model.insert("add", keys, counting(slots, 9));
      await model.insertAndFind(keys, counting(slots, 10));
      expect(model.rejections).toBe(0);
      await model.expectEqual();
    });
  }

  it("takes keys of one home slot", async () => {
    using set = await newSet(200);
    const model = Modelled.set(set);
    const chain = keysWithHome(150, 200, 210);
    await model.insert("keep", chain.subarray(0, 200), chain.subarray(0, 200));
    await model.contains(chain);
    await model.insert("keep", chain, chain);
    expect(model.rejections).toBe(1);
    await model.expectEqual();
  });

  it("still takes the keys that have a place of their own", async () => {
    using set = await newSet(10);
    await set.insert(uniqueKeys(10));
    expect(await set.insert(Uint32Array.of(0xffffffff, 0xfffffffe))).toEqual({ inserted: 2, existing: 0 });
    expect(set.size).toBe(12);
    expectAllSet(await set.contains(Uint32Array.of(0xffffffff, 0xfffffffe, ...uniqueKeys(10))), 12);
  });
});

describe("an over-full table", () => {
  it("rejects with the counts, and has all that fits", async () => {
    using map = await newMap(1000);
    const keys = uniqueKeys(1500);
    await map.insert(keys.subarray(0, 400), counting(400));
    const error = await rejection(map.insert(keys, counting(1500, 5000)), CapacityError);
    expect(error).toMatchObject({ code: "CAPACITY", name: "CapacityError", inserted: 600, rejected: 500 });
    expect(error.capacity).toBe(1000);
    expect(map.size).toBe(1000);
    const { values, found } = await map.find(keys);
    expectAllSet(found.subarray(0, 400), 400);
    expectSame(values.subarray(0, 400), counting(400));
    expect(found.reduce((a, b) => a + b, 0)).toBe(1000);
    found.forEach((flag, i) => {
      if (i >= 400) expect(values[i]).toBe(flag ? 5000 + i : 0);
    });
  });

  for (const policy of ["keep", "assign", "add", "min", "max", "and", "or", "xor"] as const) {
    it(`leaves a sound table after "${policy}" of new, old and repeated keys`, async () => {
      using map = await newMap(500);
      const model = Modelled.map(map);
      await model.insert("keep", uniqueKeys(300), counting(300));
      const batch = uniqueKeys(4000, 9000).map((n) => murmur3(n % 900));
      await model.insert(policy, batch, uniqueKeys(4000, 20_000));
      expect([model.rejections, map.size]).toEqual([1, 500]);
      await model.expectEqual();
      await model.erase(batch.subarray(0, 50));
      await model.insert(policy, batch, uniqueKeys(4000, 30_000));
      expect([model.rejections, map.size]).toEqual([2, 500]);
      await model.expectEqual();
    });
  }

  it("leaves a sound table after insertAndFind, of a map and of a set", async () => {
    using map = await newMap(100);
    using set = await newSet(100);
    for (const model of [Modelled.map(map), Modelled.set(set)]) {
      const batch = counting(600).map((i) => murmur3(i % 150));
      await model.insertAndFind(batch, counting(600));
      expect([model.rejections, model.table.size]).toEqual([1, 100]);
      await model.expectEqual();
    }
  });

  it("counts every element of a rejected key", async () => {
    using map = await newMap(1);
    await map.insert(Uint32Array.of(5), Uint32Array.of(50));
    const keys = Uint32Array.of(6, 6, 5, 6, 5, 7);
    expect(await rejection(map.insertOrAssign(keys, counting(6)), CapacityError)).toMatchObject({
      inserted: 0,
      rejected: 4,
    });
    expect(map.size).toBe(1);
    expect([2, 4]).toContain((await map.find(Uint32Array.of(5))).values[0]);
  });

  it("does not count elements that `where` leaves out", async () => {
    using set = await newSet(10);
    await set.insert(uniqueKeys(10));
    const where = Uint8Array.of(0, 0, 0, 1, 1, 0);
    const call = set.insert(absentKeys(6), { mask: where });
    expect(await rejection(call, CapacityError)).toMatchObject({ inserted: 0, rejected: 2 });
  });

  it("takes as many new keys as are erased, and rejects the rest", async () => {
    using map = await newMap(300);
    const model = Modelled.map(map);
    await model.insert("keep", uniqueKeys(400), counting(400));
    await model.erase((await map.retrieveAll()).keys.slice(0, 10));
    expect(map.size).toBe(290);
    await model.insert("keep", absentKeys(25), counting(25));
    expect([map.size, model.rejections]).toEqual([300, 2]);
    await model.expectEqual();
  });

  it("rejects one key in a batch of many that are there", async () => {
    using set = await newSet(1000);
    await set.insert(uniqueKeys(1000));
    const call = set.insert(uniqueKeys(1001));
    expect(await rejection(call, CapacityError)).toMatchObject({ inserted: 0, rejected: 1 });
  });

  it("rejects many keys without probing all slots for each", async () => {
    const slots = scaled(2 ** 18, 2 ** 15);
    using set = await StaticSet.create(device(), { key: "u32", capacity: slots, maxLoadFactor: 1 });
    const call = set.insert(uniqueKeys(3 * slots));
    expect(await rejection(call, CapacityError)).toMatchObject({ inserted: slots, rejected: 2 * slots });
    expect(set.size).toBe(slots);
  });

  it("combines values of keys that are there among many that do not fit", async () => {
    const slots = scaled(2 ** 16, 2 ** 13);
    using map = await newMap(slots);
    const keys = uniqueKeys(2 * slots);
    await map.insert(keys.subarray(0, slots), counting(slots));
    const assign = map.insertOrAssign(keys, counting(2 * slots, 5));
    expect(await rejection(assign, CapacityError)).toMatchObject({ inserted: 0, rejected: slots });
    expectSame((await map.find(keys.subarray(0, slots))).values, counting(slots, 5));
    const apply = map.insertOrApply(keys, new Uint32Array(2 * slots).fill(2), "add");
    expect(await rejection(apply, CapacityError)).toMatchObject({ inserted: 0, rejected: slots });
    expectSame((await map.find(keys.subarray(0, slots))).values, counting(slots, 7));
  });

  it("is usable after clear", async () => {
    using set = await newSet(100);
    await rejection(set.insert(uniqueKeys(101)), CapacityError);
    await set.clear();
    expect(await set.insert(uniqueKeys(100, 500))).toEqual({ inserted: 100, existing: 0 });
  });

  it("has applied every value of the keys that it has, and contains tells which are left", async () => {
    using map = await newMap(100);
    const keys = Uint32Array.of(...uniqueKeys(150), ...uniqueKeys(150));
    const ones = new Uint32Array(300).fill(1);
    await rejection(map.insertOrApply(keys, ones, "add"), CapacityError);
    const isDone = await map.contains(keys);
    await map.rehash(150);
    const left = keys.filter((_, i) => isDone[i] === 0);
    expect(left.length).toBe(100);
    expect(await map.insertOrApply(left, ones.subarray(0, 100), "add")).toMatchObject({ inserted: 50 });
    expectEvery((await map.find(uniqueKeys(150))).values, 2);
  });

  it("says in words what happened and what to do", async () => {
    using set = await newSet(2);
    const { message, fix } = await rejection(set.insert(counting(5)), CapacityError);
    expect(message).toContain("2 keys went in, 3 did not fit");
    expect(fix).toContain("larger capacity");
    expect(message.endsWith(fix)).toBe(true);
  });
});
