import { describe, expect, it } from "vitest";
import { StaticMap, StaticSet } from "../../src/index.js";
import { covering } from "../helpers/rounds.js";
import {
  expectAllSet,
  expectKeys,
  expectNoneSet,
  expectPairs,
  expectSame,
  pairsByBits,
} from "./helpers/checks.js";
import { isForced, onGpu, scaled, useDevice } from "./helpers/device.js";
import { absentKeys, counting, hashes, keysWithHome, uniqueKeys } from "./helpers/keys.js";
import { Modelled } from "./helpers/model.js";

const device = useDevice();
const newMap = (capacity: number, maxLoadFactor = 0.5) =>
  StaticMap.create(device(), { key: "u32", value: "u32", capacity, maxLoadFactor });
const newSet = (capacity: number, maxLoadFactor = 0.5) =>
  StaticSet.create(device(), { key: "u32", capacity, maxLoadFactor });

describe("erase", () => {
  it("takes keys out and leaves the others", async () => {
    using map = await newMap(400);
    const keys = uniqueKeys(400);
    await map.insert(keys, counting(400));
    expect(await map.erase(keys.subarray(0, 150))).toEqual({ erased: 150 });
    expectNoneSet(await map.contains(keys.subarray(0, 150)), 150);
    await expectPairs(map, pairsByBits("u32", keys.subarray(150), counting(250, 150)));
  });

  it("passes over absent keys, and erases nothing from an empty table", async () => {
    using map = await newMap(100);
    expect(await map.erase(uniqueKeys(50))).toEqual({ erased: 0 });
    await map.insert(uniqueKeys(50), counting(50));
    expect(await map.erase(absentKeys(50))).toEqual({ erased: 0 });
    expect(await map.erase(uniqueKeys(100))).toEqual({ erased: 50 });
    expect(await map.erase(uniqueKeys(100))).toEqual({ erased: 0 });
    await expectPairs(map, new Map());
  });

  it("counts one of equal keys in a batch", async () => {
    using set = await newSet(100);
    await set.insert(counting(100));
    const keys = counting(100_000).map((i) => i % 60);
    expect(await set.erase(keys)).toEqual({ erased: 60 });
    await expectKeys(set, counting(40, 60));
  });

  it("forgets the value: a key inserted again has its new one", async () => {
    using map = await newMap(50);
    await map.insert(counting(50), counting(50));
    await map.erase(counting(50));
    expect(await map.insert(counting(50), counting(50, 500))).toEqual({ inserted: 50, existing: 0 });
    expectSame((await map.find(counting(50))).values, counting(50, 500));
  });

  it("erases a nearly full table, takes all keys again, and erases it by halves", async () => {
    const count = scaled(300_000, isForced ? 8000 : 40_000);
    using map = await newMap(count, 0.9);
    const keys = uniqueKeys(count);
    await map.insert(keys, counting(count));
    expect(await map.erase(keys)).toEqual({ erased: count });
    expect(map.size).toBe(0);
    expectNoneSet(await map.contains(keys), count);
    expect(await map.insert(keys, counting(count))).toEqual({ inserted: count, existing: 0 });
    expectAllSet(await map.contains(keys), count);
    const [first, second] = [keys.subarray(0, count / 2), keys.subarray(count / 2)];
    expect(await map.erase(first)).toEqual({ erased: count / 2 });
    expectNoneSet(await map.contains(first), count / 2);
    expectAllSet(await map.contains(second), count / 2);
    expect(await map.erase(second)).toEqual({ erased: count / 2 });
    expect(map.size).toBe(0);
    expectNoneSet(await map.contains(keys), count);
  });
});

describe("insert after erase, on a collision chain", () => {
  // chains do not depend on the function, of which each is another set of kernels: hash-functions.test.ts has all
  for (const hash of covering(hashes, (hash) => !onGpu || hash === (isForced ? "murmur3" : "identity"))) {
    for (const place of ["middle", "end"] as const) {
      it(`never makes a second copy of a key (${hash}, chain at the ${place} of the table)`, async () => {
        using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 64, hash });
        const model = Modelled.map(map);
        const chain = keysWithHome(place === "middle" ? 40 : map.slots - 2, map.slots, 12, hash);
        const [head, tail] = [chain.subarray(0, 4), chain.subarray(4)];
        await model.insert("keep", chain, counting(12));
        await model.erase(head);
        await model.insert("keep", tail, counting(8, 100));
        await model.expectEqual();
        await model.insert("assign", tail, counting(8, 200));
        await model.insert("add", tail, counting(8, 300));
        await model.insertAndFind(tail, counting(8, 400));
        await model.expectEqual();
        await model.erase(tail);
        await model.contains(chain);
        await model.expectEqual();
        await model.insert("keep", chain, counting(12, 500));
        await model.expectEqual();
      });
    }
  }

  it("never makes one when many copies of each key come in one batch", async () => {
    using map = await newMap(64);
    const model = Modelled.map(map);
    const chain = keysWithHome(5, map.slots, 20);
    const batch = counting(4000).map((i) => chain[(i * 7) % 20]);
    for (let round = 0; round < 5; round++) {
      await model.insert("keep", batch, counting(4000));
      await model.expectEqual();
      await model.erase(chain.subarray(round, round + 10));
      await model.insert("add", batch.subarray(0, 13), counting(13));
      await model.insertAndFind(batch, counting(4000));
      await model.expectEqual();
    }
  });

  it("takes the erased slots: a full table has room for as many keys as were erased", async () => {
    using map = await newMap(500, 1);
    const model = Modelled.map(map);
    await model.insert("keep", uniqueKeys(500), counting(500));
    for (let round = 0; round < 8; round++) {
      const start = 500 + round * 100;
      await model.erase(uniqueKeys(100, start - 500));
      await model.insert("keep", uniqueKeys(100, start), counting(100, start));
      expect(map.size).toBe(500);
    }
    await model.expectEqual();
    expectNoneSet(await map.contains(uniqueKeys(800)), 800);
  });

  it("keeps finding what is there, and no more, when no slot is empty any longer", async () => {
    using set = await newSet(300, 1);
    const model = Modelled.set(set);
    const keys = uniqueKeys(300);
    await model.insert("keep", keys, keys);
    await model.erase(keys);
    expectNoneSet(await set.contains(keys), 300);
    expect(await set.erase(keys)).toEqual({ erased: 0 });
    await model.insert("keep", keys.subarray(0, 10), keys.subarray(0, 10));
    await model.expectEqual();
    expectNoneSet(await set.contains(keys.subarray(10)), 290);
  });

  it("stands a long churn in a small table", async () => {
    using set = await newSet(64, 0.8);
    const model = Modelled.set(set);
    for (let round = 0; round < 30; round++) {
      await model.insert("keep", uniqueKeys(60, round * 60), uniqueKeys(60, round * 60));
      await model.erase(uniqueKeys(60, round * 60));
    }
    await model.insert("keep", uniqueKeys(64), uniqueKeys(64));
    await model.expectEqual();
  });
});
