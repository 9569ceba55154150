/** When tables grow, for what, and how far: by what a batch brings that is new, wherever its columns are. */
import { describe, expect, it, test } from "vitest";
import type { Input } from "../../src/engine/engine.js";
import { DynamicMap, DynamicSet, type Plan, ValidationError } from "../../src/index.js";
import {
  expectAllSet,
  expectKeys,
  expectPairs,
  expectSame,
  pairsByBits,
  rejection,
} from "./helpers/checks.js";
import { scaled, useDevice } from "./helpers/device.js";
import { counting, maskOf, sentinelPatterns, uniqueKeys } from "./helpers/keys.js";
import { planned } from "./helpers/plan.js";

const device = useDevice();

type Size = { capacity?: number; maxLoadFactor?: number; growthFactor?: number };
const newMap = (options: Size = {}) => DynamicMap.create(device(), { key: "u32", value: "u32", ...options });
const newSet = (options: Size = {}) => DynamicSet.create(device(), { key: "u32", ...options });

/** Elements of a batch that is too long to be looked at as a whole. */
const LONG = 20_000;

describe("a batch of keys that are there", () => {
  for (const size of [500, LONG]) {
    it(`of ${size} elements does not grow a full table`, async () => {
      using map = await newMap({ capacity: 300 });
      const keys = uniqueKeys(300);
      await map.insert(keys, counting(300));
      const batch = Uint32Array.from({ length: size }, (_, i) => keys[i % 300]);
      const ones = new Uint32Array(size).fill(1);
      expect(await map.insert(batch, ones)).toEqual({ inserted: 0, existing: size });
      expect(await map.insertOrApply(batch, ones, "add")).toEqual({ inserted: 0, applied: size });
      expect(await map.insertAndFind(batch, ones)).toMatchObject({ inserted: 0, existing: size });
      expect([map.capacity, map.slots, map.size]).toEqual([300, 600, 300]);
      const { values } = await map.find(keys);
      expectSame(
        values,
        keys.map((_, i) => i + Math.floor(size / 300) + Number(i < size % 300)),
      );
    });
  }
});

describe("a batch of equal keys", () => {
  for (const size of [1000, LONG]) {
    it(`that is new: ${size} elements are one entry, and all are added`, async () => {
      using map = await newMap({ capacity: 10 });
      await map.insert(uniqueKeys(9), counting(9));
      const keys = new Uint32Array(size).fill(uniqueKeys(1, 77)[0]);
      const ones = new Uint32Array(size).fill(1);
      expect(await map.insertOrApply(keys, ones, "add")).toEqual({ inserted: 1, applied: size - 1 });
      expect(map.capacity).toBe(10);
      // the next one is one too many
      const others = new Uint32Array(size).fill(uniqueKeys(1, 78)[0]);
      expect(await map.insertOrApply(others, ones, "add")).toEqual({ inserted: 1, applied: size - 1 });
      expect(map.capacity).toBe(20);
      expectSame((await map.find(Uint32Array.of(keys[0], others[0]))).values, [size, size]);
    });
  }
});

describe("a batch with new keys", () => {
  it("grows by the factor, or to what it needs", async () => {
    using set = await newSet({ capacity: 100, growthFactor: 3, maxLoadFactor: 0.8 });
    await set.insert(uniqueKeys(101));
    expect([set.capacity, set.slots]).toEqual([300, 375]);
    await set.insert(uniqueKeys(200, 101));
    expect(set.capacity).toBe(900);
    await set.insert(uniqueKeys(5000, 301));
    expect([set.capacity, set.size]).toEqual([5301, 5301]);
    await expectKeys(set, uniqueKeys(5301));
  });

  it("grows for the keys that are new, not for the others, and each element is added once", async () => {
    using map = await newMap({ capacity: 4000, growthFactor: 1.01 });
    await map.insert(uniqueKeys(4000), counting(4000));
    // every fifth element is new, and comes twice
    const keys = Uint32Array.from(
      { length: LONG },
      (_, i) => uniqueKeys(1, i % 5 > 0 ? i % 4000 : 10_000 + (i >> 1))[0],
    );
    const model = pairsByBits("u32", uniqueKeys(4000), counting(4000));
    for (const [i, key] of keys.entries()) model.set(key, (model.get(key) ?? 0) + i);
    const added = model.size - 4000;
    expect(await map.insertOrApply(keys, counting(LONG), "add")).toEqual({
      inserted: added,
      applied: LONG - added,
    });
    expect(map.capacity).toBe(model.size);
    await expectPairs(map, model);
  });

  it("that are many, between very many of one key, grows to exactly what it needs", async () => {
    using set = await newSet({ capacity: 0 });
    // a sample expects far fewer keys than there are
    const keys = Uint32Array.from({ length: LONG }, (_, i) => (i % 2 ? 7 : uniqueKeys(1, i)[0]));
    expect(await set.insert(keys)).toEqual({ inserted: LONG / 2 + 1, existing: LONG / 2 - 1 });
    expect(set.capacity).toBe(LONG / 2 + 1);
  });

  it("grows when nearly all are new without more slots than elements ask for", async () => {
    using set = await newSet({ capacity: 5000 });
    await set.insert(uniqueKeys(5000));
    await set.insert(uniqueKeys(LONG, 3000));
    expect(set.size).toBe(LONG + 3000);
    expect(set.capacity).toBeLessThanOrEqual(LONG + 5000);
    await expectKeys(set, uniqueKeys(LONG + 3000));
  });

  it("that fit does not grow, at the last one either", async () => {
    using set = await newSet({ capacity: LONG, maxLoadFactor: 1 });
    await set.insert(uniqueKeys(LONG / 2));
    await set.insert(uniqueKeys(LONG));
    expect([set.capacity, set.size, set.loadFactor]).toEqual([LONG, LONG, 1]);
    await set.insert(uniqueKeys(1, LONG));
    expect([set.capacity, set.size]).toEqual([2 * LONG, LONG + 1]);
  });

  it("that equal a sentinel count as others do", async () => {
    using map = await newMap({ capacity: 1 });
    await map.insert(sentinelPatterns, counting(3));
    expect([map.capacity, map.size]).toEqual([3, 3]);
    await expectPairs(map, pairsByBits("u32", sentinelPatterns, counting(3)));
  });
});

describe("`where`", () => {
  it("leaves out keys that would make the table grow", async () => {
    using map = await newMap({ capacity: 100 });
    for (const size of [4000, LONG]) {
      const where = new Uint8Array(size).fill(255, 0, 50);
      expect(await map.insert(uniqueKeys(size), counting(size), { mask: where })).toMatchObject({
        inserted: size === 4000 ? 50 : 0,
      });
      const none = new Uint8Array(size);
      expect(await map.insertOrAssign(uniqueKeys(size, 50), counting(size), { mask: none })).toEqual({
        inserted: 0,
        assigned: 0,
      });
    }
    expect([map.capacity, map.size]).toEqual([100, 50]);
  });

  it("keeps to its elements in batches that grow", async () => {
    using map = await newMap({ capacity: 10 });
    const where = maskOf(LONG);
    const selected = uniqueKeys(LONG).filter((_, i) => where[i]);
    const { inserted } = await map.insertOrApply(uniqueKeys(LONG), counting(LONG), "add", { mask: where });
    expect(inserted).toBe(selected.length);
    await expectPairs(
      map,
      pairsByBits(
        "u32",
        selected,
        counting(LONG).filter((_, i) => where[i]),
      ),
    );
  });
});

describe("columns", () => {
  /** Each key twice, half of them there, every third element left out. */
  const keys = Uint32Array.from({ length: LONG }, (_, i) => uniqueKeys(1, i % (LONG / 2))[0]);
  const values = new Uint32Array(LONG).fill(1);
  const where = maskOf(LONG);

  async function check(k: Input<"u32">, v: Input<"u32">, mask: Input<"u8">) {
    using map = await newMap({ capacity: LONG / 4, growthFactor: 1.001 });
    await map.insert(uniqueKeys(LONG / 4), new Uint32Array(LONG / 4));
    const model = pairsByBits("u32", uniqueKeys(LONG / 4), new Uint32Array(LONG / 4));
    for (const [i, key] of keys.entries()) if (where[i]) model.set(key, (model.get(key) ?? 0) + 1);
    const { inserted } = await map.insertOrApply(k, v, "add", { mask });
    expect(inserted).toBe(model.size - LONG / 4);
    expect(map.capacity).toBe(model.size);
    await expectPairs(map, model);
    const { values: now, isNew } = await map.insertAndFind(k, v, { mask });
    expectSame(
      now,
      keys.map((key, i) => (where[i] ? (model.get(key) as number) : 0)),
    );
    expect(isNew.some(Boolean)).toBe(false);
  }

  it("in typed arrays", () => check(keys, values, where));

  it("on the device", async () => {
    const on = device();
    const mask = await on.upload(where);
    await check(await on.upload(keys), await on.upload(values), mask);
    await check(keys, await on.upload(values), mask);
  });

  it("in pinned arrays", async () => {
    const pinned = async <T extends "u32" | "u8">(type: T, from: ArrayLike<number>) => {
      const array = await device().pinned(type, from.length, "upload");
      (array.array as Uint32Array | Uint8Array).set(from);
      return array;
    };
    await check(await pinned("u32", keys), await pinned("u32", values), await pinned("u8", where));
    await check(await pinned("u32", keys), values, where);
  });

  it("that were destroyed after the call was made", async () => {
    using map = await newMap({ capacity: 1 });
    const [k, v] = [await device().upload(keys), await device().upload(values)];
    const call = map.insert(k, v);
    k.destroy();
    v.destroy();
    expect(await call).toEqual({ inserted: LONG / 2, existing: LONG / 2 });
  });
});

describe("insertAndFind", () => {
  for (const size of [700, LONG]) {
    it(`of ${size} elements flags each new key once, and answers the values that are stored`, async () => {
      using map = await newMap({ capacity: 100 });
      await map.insert(uniqueKeys(100), new Uint32Array(100).fill(5));
      const keys = Uint32Array.from({ length: size }, (_, i) => uniqueKeys(1, i % 350)[0]);
      const result = await map.insertAndFind(keys, counting(size, 1000));
      expect([result.inserted, result.existing]).toEqual([250, size - 250]);
      const flagged = new Map<number, number>();
      keys.forEach((key, i) => {
        if (result.isNew[i]) flagged.set(key, flagged.has(key) ? Number.NaN : 1000 + i);
      });
      expect(flagged.size).toBe(250);
      keys.forEach((key, i) => {
        const expected = flagged.get(key) ?? 5;
        if (result.values[i] !== expected) expect([i, result.values[i]]).toEqual([i, expected]);
      });
    });
  }

  it("of a set that grows, with results on the device", async () => {
    using set = await newSet({ capacity: 0 });
    const { isNew } = await set.insertAndFind(uniqueKeys(3000), { output: "device" });
    expectAllSet(await isNew.read(), 3000);
  });
});

describe("tables that age", () => {
  it("keep their size, and few tombstones, while keys go and come", async () => {
    const count = scaled(10_000, 2000);
    for (const maxLoadFactor of [0.5, 0.85]) {
      using set = await newSet({ capacity: count, maxLoadFactor });
      await set.insert(uniqueKeys(count));
      const { slots } = set;
      const step = Math.floor(count / 20);
      for (let from = 0; from < 5 * count; from += step) {
        expect(await set.erase(uniqueKeys(step, from))).toEqual({ erased: step });
        expect(await set.insert(uniqueKeys(step, from + count))).toEqual({ inserted: step, existing: 0 });
      }
      expect([set.capacity, set.slots]).toEqual([count, slots]);
      const { tombstones } = await set.stats();
      expect(tombstones).toBeLessThanOrEqual(Math.max((slots - count) / 2, slots / 64));
      await expectKeys(set, uniqueKeys(count, Math.ceil((5 * count) / step) * step));
    }
  });

  it("drop tombstones when they and the entries are more than the load allows", async () => {
    using map = await newMap({ capacity: 1000 });
    await map.insert(uniqueKeys(1000), counting(1000));
    await map.erase(uniqueKeys(400));
    expect((await map.stats()).tombstones).toBe(400);
    await map.insert(uniqueKeys(400, 5000), counting(400));
    await map.erase(uniqueKeys(600, 400));
    expect((await map.stats()).tombstones).toBe(0);
    expect([map.size, map.slots]).toEqual([400, 2000]);
    await expectPairs(map, pairsByBits("u32", uniqueKeys(400, 5000), counting(400)));
    // all at once: the table is cleared where it is
    await map.insert(uniqueKeys(600, 9000), counting(600));
    await map.erase(uniqueKeys(600, 9000));
    await map.insert(uniqueKeys(500, 20_000), counting(500));
    await map.erase(Uint32Array.of(...uniqueKeys(400, 5000), ...uniqueKeys(500, 20_000)));
    expect(await map.stats()).toMatchObject({ live: 0, tombstones: 0 });
  });
});

describe("reserve and shrinkToFit", () => {
  it("make room ahead, and give it back", async () => {
    using map = await newMap();
    expect([map.capacity, map.slots]).toEqual([1024, 2048]);
    await map.reserve(50);
    expect(map.capacity).toBe(1024);
    await map.reserve(3001);
    expect([map.capacity, map.slots]).toEqual([3001, 6002]);
    await map.insert(uniqueKeys(3001), counting(3001));
    expect(map.capacity).toBe(3001);
    await map.erase(uniqueKeys(2900));
    await map.shrinkToFit();
    expect([map.capacity, map.slots, map.size]).toEqual([101, 202, 101]);
    await expectPairs(map, pairsByBits("u32", uniqueKeys(101, 2900), counting(101, 2900)));
    await map.clear();
    await map.shrinkToFit();
    expect([map.capacity, map.slots]).toEqual([0, 1]);
    await map.insert(uniqueKeys(1), counting(1));
    expect(map.size).toBe(1);
    expect(`${map}`).toBe("DynamicMap<u32, u32> { size: 1, capacity: 1, load: 0.5 }");
  });

  it("check their argument", async () => {
    using set = await newSet();
    for (const wrong of [-1, 1.5, "10", undefined]) {
      await rejection(set.reserve(wrong as number), ValidationError);
    }
    expect(`${set}`).toBe("DynamicSet<u32> { size: 0, capacity: 1024, load: 0 }");
  });
});

describe("calls in flight", () => {
  it("run in the order they were made, across growth", async () => {
    using map = await newMap({ capacity: 1 });
    const [, first, , second, , third] = await Promise.all([
      map.insert(uniqueKeys(300), counting(300)),
      map.contains(uniqueKeys(600)),
      map.insert(uniqueKeys(300, 300), counting(300)),
      map.contains(uniqueKeys(600)),
      map.erase(uniqueKeys(600)),
      map.contains(uniqueKeys(600)),
    ]);
    const sums = [first, second, third].map((flags) => flags.reduce((a, b) => a + b, 0));
    expect(sums).toEqual([300, 600, 0]);
  });
});

describe("onPlan", () => {
  test("is told once of a call that grows, with the time that this took", async () => {
    using map = await newMap({ capacity: 1 });
    const plans: Plan[] = [];
    const onPlan = (plan: Plan) => void plans.push(plan);
    for (const [size, from] of [
      [100, 0],
      [LONG, 100],
    ]) {
      const keys = Uint32Array.from({ length: size }, (_, i) => uniqueKeys(1, from + (i % (size / 4)))[0]);
      await map.insert(keys, counting(size), { onPlan });
      const [plan] = plans.splice(0);
      expect(plans).toEqual([]);
      expect(plan.phases.filter(({ name }) => name === "make room")).toHaveLength(1);
      expect(plan.strategies.reduce((sum, { chunks }) => sum + chunks, 0)).toBe(plan.chunks);
    }
    await map.reserve(map.size + 1);
    const { plan } = await planned((onPlan) => map.insert(uniqueKeys(1), counting(1), { onPlan }));
    expect(plan.phases.filter(({ name }) => name === "make room")).toEqual([]);
  });

  test("onProgress counts the elements of the batch once", async () => {
    using set = await newSet({ capacity: 1 });
    const told: [number, number][] = [];
    const keys = Uint32Array.from({ length: LONG }, (_, i) => uniqueKeys(1, i % 5000)[0]);
    await set.insert(keys, { onProgress: (done, total) => told.push([done, total]) });
    expect(told.at(-1)).toEqual([LONG, LONG]);
    expect(told.map(([done]) => done)).toEqual(told.map(([done]) => done).toSorted((a, b) => a - b));
    expect(told.filter(([done]) => done === LONG)).toHaveLength(1);
  });
});
