import { describe, expect, it } from "vitest";
import { StaticMap } from "../../src/index.js";
import { expectEvery, expectPairs, pairsByBits } from "./helpers/checks.js";
import { scaled, useDevice } from "./helpers/device.js";
import { counting, sentinelPatterns, uniqueKeys } from "./helpers/keys.js";
import { Modelled } from "./helpers/model.js";

const device = useDevice();
const newMap = (capacity: number) => StaticMap.create(device(), { key: "u32", value: "u32", capacity });

describe("StaticMap.insertOrAssign", () => {
  it("overwrites 400 values and leaves the size alone", async () => {
    using map = await newMap(400);
    const keys = uniqueKeys(400);
    await map.insert(keys, counting(400));
    expect(await map.insertOrAssign(keys, counting(400, 1000))).toEqual({ inserted: 0, assigned: 400 });
    await expectPairs(map, pairsByBits("u32", keys, counting(400, 1000)));
  });

  it("inserts the keys that are not there", async () => {
    using map = await newMap(300);
    const keys = uniqueKeys(300);
    expect(await map.insertOrAssign(keys.subarray(0, 200), counting(200))).toEqual({
      inserted: 200,
      assigned: 0,
    });
    expect(await map.insertOrAssign(keys.subarray(150), counting(150, 500))).toEqual({
      inserted: 100,
      assigned: 50,
    });
    const values = Uint32Array.of(...counting(150), ...counting(150, 500));
    await expectPairs(map, pairsByBits("u32", keys, values));
  });

  it("leaves one of the values of equal keys in a batch", async () => {
    using map = await newMap(100);
    const model = Modelled.map(map);
    const ids = counting(5000).map((i) => (i * 7919) % 100);
    await model.insert("assign", ids, counting(5000));
    await model.insert("assign", ids, counting(5000, 5000));
    expect(map.size).toBe(100);
    await model.expectEqual();
    for (const value of (await map.retrieveAll()).values) expect(value).toBeGreaterThanOrEqual(5000);
  });

  it("assigns one of 100,000 values of one key", async () => {
    using map = await newMap(10);
    const keys = new Uint32Array(100_000).fill(7);
    expect(await map.insertOrAssign(keys, counting(100_000, 1))).toEqual({ inserted: 1, assigned: 99_999 });
    const { values } = await map.find(keys);
    expect(values[0]).toBeGreaterThan(0);
    expectEvery(values, values[0]);
    expect(map.size).toBe(1);
  });

  it("assigns values that look like sentinels", async () => {
    using map = await newMap(50);
    const keys = uniqueKeys(50);
    await map.insert(keys, counting(50));
    for (const sentinel of sentinelPatterns) {
      expect(await map.insertOrAssign(keys, new Uint32Array(50).fill(sentinel))).toEqual({
        inserted: 0,
        assigned: 50,
      });
      await expectPairs(map, pairsByBits("u32", keys, new Uint32Array(50).fill(sentinel)));
    }
  });

  it("assigns a long batch over a long batch", async () => {
    const count = scaled(200_000, 60_000);
    using map = await newMap(count);
    const keys = uniqueKeys(count);
    await map.insert(keys, counting(count));
    const backwards = keys.slice().reverse();
    expect(await map.insertOrAssign(backwards, counting(count))).toEqual({ inserted: 0, assigned: count });
    await expectPairs(map, pairsByBits("u32", backwards, counting(count)));
  });
});
