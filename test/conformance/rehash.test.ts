import { describe, expect, it } from "vitest";
import { CapacityError, LimitError, StaticMap, StaticSet, ValidationError } from "../../src/index.js";
import { expectKeys, expectPairs, pairsByBits, rejection } from "./helpers/checks.js";
import { onOneTable, scaled, useDevice } from "./helpers/device.js";
import { counting, edgePatterns, fromBits, keysWithHome, oddFloats, uniqueKeys } from "./helpers/keys.js";
import { Modelled } from "./helpers/model.js";

const device = useDevice();

describe("rehash", () => {
  it("keeps every pair when the table stays, grows or shrinks", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 400 });
    const keys = Uint32Array.of(...edgePatterns, ...uniqueKeys(300, 100));
    await map.insert(keys, uniqueKeys(keys.length, 5000));
    const pairs = pairsByBits("u32", keys, uniqueKeys(keys.length, 5000));
    for (const capacity of [400, 800, 1201, keys.length]) {
      expect(await map.rehash(capacity)).toBe(undefined);
      expect([map.capacity, map.slots]).toEqual([capacity, capacity * 2]);
      await expectPairs(map, pairs);
    }
  });

  it("without a number keeps the capacity", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 401, maxLoadFactor: 0.7 });
    await set.insert(uniqueKeys(400));
    await set.rehash();
    expect([set.capacity, set.slots]).toEqual([401, 573]);
    await expectKeys(set, uniqueKeys(400));
  });

  it("without a number keeps more entries than the capacity promised, too", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 100 });
    await set.insert(uniqueKeys(150));
    await set.rehash();
    expect(set.capacity).toBe(150);
    await expectKeys(set, uniqueKeys(150));
  });

  it("drops tombstones: 300 of 400 are left after 100 were erased", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 400, maxLoadFactor: 1 });
    await set.insert(uniqueKeys(400));
    await set.erase(uniqueKeys(100));
    await set.rehash();
    expect(await set.stats()).toMatchObject({ live: 300, tombstones: 0 });
    await expectKeys(set, uniqueKeys(300, 100));
  });

  it("keeps load factor, hash function and types", async () => {
    const options = { key: "i32", value: "f32", capacity: 50, maxLoadFactor: 0.8, hash: "xxhash32" } as const;
    using map = await StaticMap.create(device(), options);
    await map.insert(Int32Array.of(-1, -2, 3), fromBits("f32", oddFloats.slice(-3)));
    await map.rehash(100);
    expect([map.slots, map.hash, map.keyType, map.valueType]).toEqual([125, "xxhash32", "i32", "f32"]);
    await expectPairs(map, pairsByBits("i32", Int32Array.of(-1, -2, 3), oddFloats.slice(-3)));
    const chain = keysWithHome(60, 125, 10, "xxhash32");
    await map.insert(fromBits("i32", chain), new Float32Array(10));
    if (onOneTable) expect((await map.stats()).maxProbeLength).toBeGreaterThanOrEqual(10);
  });

  it("makes room after a CapacityError", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 100, maxLoadFactor: 1 });
    await rejection(set.insert(uniqueKeys(150)), CapacityError);
    await set.rehash(150);
    expect(await set.insert(uniqueKeys(150))).toEqual({ inserted: 50, existing: 100 });
    await expectKeys(set, uniqueKeys(150));
  });

  it("of an empty table, and to capacity 0", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 40 });
    await map.rehash();
    await map.insert(uniqueKeys(5), counting(5));
    await map.erase(uniqueKeys(5));
    await map.rehash(0);
    expect([map.capacity, map.slots, map.size]).toEqual([0, 1, 0]);
    await expectPairs(map, new Map());
  });

  it("can be called again and again", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 40 });
    const model = Modelled.map(map);
    for (let round = 0; round < 6; round++) {
      await model.insert("keep", uniqueKeys(30, round * 20), counting(30));
      await model.erase(uniqueKeys(10, round * 25));
      await model.rehash(round * 11 + 60);
      await model.expectEqual();
    }
  });

  it("moves a large table", async () => {
    const count = scaled(300_000, 100_000);
    using map = await StaticMap.create(device(), {
      key: "u32",
      value: "u32",
      capacity: count,
      maxLoadFactor: 0.9,
    });
    await map.insert(uniqueKeys(count), counting(count));
    await map.rehash(count * 2);
    await expectPairs(map, pairsByBits("u32", uniqueKeys(count), counting(count)));
  });
});

describe("rehash rejects, and the table is as it was", () => {
  const good = { key: "u32", value: "u32", capacity: 100 } as const;
  const wrong = {
    "below the size": 49,
    negative: -1,
    "not whole": 77.5,
    NaN: Number.NaN,
    text: "100" as never,
  };
  for (const [what, capacity] of Object.entries(wrong)) {
    it(`a capacity ${what}`, async () => {
      using map = await StaticMap.create(device(), good);
      await map.insert(counting(50), counting(50));
      expect((await rejection(map.rehash(capacity), ValidationError)).code).toBe("VALIDATION");
      expect([map.capacity, map.slots]).toEqual([100, 200]);
      await expectPairs(map, pairsByBits("u32", counting(50), counting(50)));
    });
  }

  it("a capacity beyond the most slots there can be", async () => {
    using map = await StaticMap.create(device(), good);
    await map.insert(counting(50), counting(50));
    await rejection(map.rehash(2 ** 40), LimitError);
    await expectPairs(map, pairsByBits("u32", counting(50), counting(50)));
  });
});
