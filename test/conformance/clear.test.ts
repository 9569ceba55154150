import { describe, expect, it } from "vitest";
import { StaticMap, StaticSet } from "../../src/index.js";
import { expectKeys, expectNoneSet, expectPairs, pairsByBits } from "./helpers/checks.js";
import { scaled, useDevice } from "./helpers/device.js";
import { counting, edgePatterns, uniqueKeys } from "./helpers/keys.js";

const device = useDevice();

describe("clear", () => {
  it("takes everything out, keys that equal sentinels too, and keeps the capacity", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 400 });
    const keys = Uint32Array.of(...edgePatterns, ...uniqueKeys(300, 100));
    await map.insert(keys, keys);
    const { capacity, slots } = map;
    expect(await map.clear()).toBe(undefined);
    expect([map.size, map.loadFactor, map.capacity, map.slots]).toEqual([0, 0, capacity, slots]);
    expectNoneSet(await map.contains(keys), keys.length);
    await expectPairs(map, new Map());
  });

  it("takes tombstones out", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 100, maxLoadFactor: 1 });
    await set.insert(uniqueKeys(100));
    await set.erase(uniqueKeys(50));
    await set.clear();
    expect(await set.stats()).toMatchObject({ live: 0, tombstones: 0, maxProbeLength: 0 });
  });

  it("leaves a table that takes a full load again, and again", async () => {
    using map = await StaticMap.create(device(), {
      key: "u32",
      value: "u32",
      capacity: 300,
      maxLoadFactor: 1,
    });
    for (let round = 0; round < 3; round++) {
      const keys = uniqueKeys(300, round * 300);
      expect(await map.insert(keys, counting(300))).toEqual({ inserted: 300, existing: 0 });
      await expectPairs(map, pairsByBits("u32", keys, counting(300)));
      await map.clear();
      expectNoneSet(await map.contains(keys), 300);
    }
  });

  it("does no harm to an empty table", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 0 });
    await set.clear();
    await set.clear();
    await expectKeys(set, []);
  });

  it("clears a large table", async () => {
    const count = scaled(2_000_000, 300_000);
    using set = await StaticSet.create(device(), { key: "u32", capacity: count });
    await set.insert(uniqueKeys(count));
    await set.clear();
    expect((await set.retrieveAll()).keys.length).toBe(0);
    expectNoneSet(await set.contains(uniqueKeys(count)), count);
  });
});
