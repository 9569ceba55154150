/** No key and no value is reserved: every pattern an engine uses inside is an ordinary one outside. */
import { describe, expect, it } from "vitest";
import type { Scalar } from "../../src/engine/scalars.js";
import { StaticMap, StaticSet } from "../../src/index.js";
import { covering } from "../helpers/rounds.js";
import { expectNoneSet, expectPairs, pairsByBits } from "./helpers/checks.js";
import { isForced, useDevice } from "./helpers/device.js";
import { counting, edgePatterns, fromBits, sentinelPatterns, uniqueKeys } from "./helpers/keys.js";
import { Modelled } from "./helpers/model.js";

const device = useDevice();
/** A strategy that is forced upon calls knows the types of keys by their words. */
const keyTypes = covering<Scalar>(["u32", "i32"], (type) => type === "u32" || !isForced);
const others = uniqueKeys(100, 1000);
const rotated = (by: number) => edgePatterns.map((_, i) => edgePatterns[(i + by) % edgePatterns.length]);

describe("keys and values that equal sentinels", () => {
  for (const key of keyTypes) {
    it(`are inserted, found, assigned, combined and erased like any other (${key} keys)`, async () => {
      using map = await StaticMap.create(device(), { key, value: "u32", capacity: 200 });
      const model = Modelled.map(map as never);
      await model.contains(edgePatterns);
      await model.erase(edgePatterns);
      await model.insert("keep", others, counting(100));
      await model.contains(edgePatterns);
      await model.insert("keep", edgePatterns, rotated(1));
      await model.expectEqual();
      await model.insert("keep", edgePatterns, rotated(2));
      await model.insert("assign", edgePatterns, rotated(3));
      await model.find(edgePatterns, 0xfffffffe);
      await model.insertAndFind(edgePatterns, rotated(4));
      for (const op of ["add", "min", "max", "and", "or", "xor"] as const) {
        await model.insert(op, edgePatterns, rotated(5));
        await model.insert(op, sentinelPatterns, sentinelPatterns);
      }
      await model.expectEqual();
      await model.erase(edgePatterns.filter((_, i) => i % 2 === 0));
      await model.expectEqual();
      await model.insertAndFind(edgePatterns, rotated(6));
      await model.erase(edgePatterns);
      await model.contains(edgePatterns);
      await model.expectEqual();
    });

    it(`are members of a set like any other (${key} keys)`, async () => {
      using set = await StaticSet.create(device(), { key, capacity: 200 });
      const model = Modelled.set(set as never);
      await model.contains(edgePatterns);
      await model.insert("keep", edgePatterns, edgePatterns);
      await model.find(edgePatterns, 3);
      await model.insertAndFind(edgePatterns, edgePatterns);
      await model.insert("keep", others, others);
      await model.expectEqual();
      await model.erase(sentinelPatterns);
      await model.find(edgePatterns, key === "i32" ? -1 : 0xffffffff);
      await model.expectEqual();
    });

    for (const sentinel of sentinelPatterns) {
      const name = `0x${sentinel.toString(16)}`;
      it(`${name} alone in a table of capacity 1 (${key} keys)`, async () => {
        using map = await StaticMap.create(device(), { key, value: "u32", capacity: 1 });
        const model = Modelled.map(map as never);
        const keys = new Uint32Array(500).fill(sentinel);
        for (const value of sentinelPatterns) {
          const values = new Uint32Array(500).fill(value);
          await model.contains(sentinelPatterns);
          await model.insert("keep", keys, values);
          await model.contains(sentinelPatterns);
          await model.find(sentinelPatterns, 1);
          await model.expectEqual();
          await model.insertAndFind(keys, counting(500));
          await model.insert("assign", keys, counting(500));
          await model.insert("add", keys, new Uint32Array(500).fill(1));
          await model.expectEqual();
          await model.erase(keys);
          await model.expectEqual();
        }
      });
    }
  }

  it("equal keys that are sentinels, many of each in one batch", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 10 });
    const model = Modelled.map(map);
    const keys = counting(3000).map((i) => sentinelPatterns[i % 3]);
    await model.insert("keep", keys, counting(3000));
    await model.insert("assign", keys, counting(3000, 5000));
    await model.insert("add", keys, counting(3000));
    await model.insertAndFind(keys, counting(3000));
    expect(map.size).toBe(3);
    await model.expectEqual();
    await model.erase(keys);
    await model.insertAndFind(keys, counting(3000));
    await model.expectEqual();
  });

  it("survive rehash and go with clear", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 100 });
    await map.insert(edgePatterns, rotated(1));
    await map.rehash(50);
    await expectPairs(map, pairsByBits("u32", edgePatterns, rotated(1)));
    await map.clear();
    expectNoneSet(await map.contains(edgePatterns), edgePatterns.length);
    await expectPairs(map, new Map());
  });

  it("values: each sentinel as the value of many keys", async () => {
    for (const value of ["u32", "i32", "f32"] as const) {
      using map = await StaticMap.create(device(), { key: "u32", value, capacity: 300 });
      const keys = uniqueKeys(300);
      const values = keys.map((_, i) => sentinelPatterns[i % 3]);
      await map.insert(keys, fromBits(value, values));
      await expectPairs(map, pairsByBits("u32", keys, values));
    }
  });
});
