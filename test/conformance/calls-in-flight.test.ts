import { describe, expect, it } from "vitest";
import { CapacityError, StaticMap, StaticSet, ValidationError } from "../../src/index.js";
import {
  expectAllSet,
  expectEvery,
  expectNoneSet,
  expectPairs,
  expectSame,
  pairsByBits,
  rejection,
} from "./helpers/checks.js";
import { scaled, useDevice } from "./helpers/device.js";
import { absentKeys, counting, uniqueKeys } from "./helpers/keys.js";

const device = useDevice();
const newMap = (capacity: number, maxLoadFactor = 0.5) =>
  StaticMap.create(device(), { key: "u32", value: "u32", capacity, maxLoadFactor });

describe("calls on one container run in the order they were made", () => {
  it("two inserts of the same keys: the first one's values stay", async () => {
    using map = await newMap(5000);
    const keys = uniqueKeys(5000);
    const counts = await Promise.all([
      map.insert(keys, counting(5000)),
      map.insert(keys, counting(5000, 9000)),
    ]);
    expect(counts).toEqual([
      { inserted: 5000, existing: 0 },
      { inserted: 0, existing: 5000 },
    ]);
    await expectPairs(map, pairsByBits("u32", keys, counting(5000)));
  });

  it("calls of all kinds, none awaited before the next", async () => {
    using map = await newMap(1000);
    const [keys, half] = [uniqueKeys(1000), uniqueKeys(500)];
    const [inserted, before, erased, between, cleared, after, , again, last] = await Promise.all([
      map.insert(keys, counting(1000)),
      map.find(keys),
      map.erase(half),
      map.contains(keys),
      map.clear(),
      map.contains(keys),
      map.rehash(2000),
      map.insertOrAssign(half, counting(500, 50)),
      map.retrieveAll(),
    ]);
    expect(inserted).toEqual({ inserted: 1000, existing: 0 });
    expectSame(before.values, counting(1000));
    expect(erased).toEqual({ erased: 500 });
    expectNoneSet(between.subarray(0, 500), 500);
    expectAllSet(between.subarray(500), 500);
    expect(cleared).toBe(undefined);
    expectNoneSet(after, 1000);
    expect(again).toEqual({ inserted: 500, assigned: 0 });
    expect(last.keys.length).toBe(500);
    expect([map.size, map.capacity]).toEqual([500, 2000]);
    await expectPairs(map, pairsByBits("u32", half, counting(500, 50)));
  });

  it("a call that fails does not stop or change those behind it", async () => {
    using map = await newMap(100, 1);
    const [over, wrong, found, small, erased] = await Promise.allSettled([
      map.insert(uniqueKeys(150), counting(150)),
      map.insert(uniqueKeys(2), counting(3)),
      map.contains(uniqueKeys(150)),
      map.rehash(10),
      map.erase(uniqueKeys(150)),
    ]);
    expect(over).toMatchObject({
      status: "rejected",
      reason: { code: "CAPACITY", inserted: 100, rejected: 50 },
    });
    expect(wrong).toMatchObject({ status: "rejected", reason: { code: "VALIDATION" } });
    expect(small).toMatchObject({ status: "rejected", reason: { code: "VALIDATION" } });
    expect((found as PromiseFulfilledResult<Uint8Array>).value.reduce((a, b) => a + b, 0)).toBe(100);
    expect(erased).toEqual({ status: "fulfilled", value: { erased: 100 } });
    expect(map.size).toBe(0);
  });

  it("many small calls at once", async () => {
    using map = await newMap(2000);
    const counts = await Promise.all(
      Array.from({ length: 100 }, (_, i) => map.insert(uniqueKeys(30, i * 20), counting(30, i * 20))),
    );
    expect(counts[0]).toEqual({ inserted: 30, existing: 0 });
    for (const count of counts.slice(1)) expect(count).toEqual({ inserted: 20, existing: 10 });
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, i) => map.find(uniqueKeys(50, i * 20))),
    );
    results.forEach(({ values, found }, i) => {
      const there = Math.min(50, 2010 - i * 20);
      expectAllSet(found.subarray(0, there), there);
      expectNoneSet(found.subarray(there), 50 - there);
      expectSame(values.subarray(0, there), counting(there, i * 20));
    });
  });
});

describe("calls on several containers of one device", () => {
  it("run at once and do not mix", async () => {
    const count = scaled(300_000, 60_000);
    const tables = await Promise.all(Array.from({ length: 4 }, () => newMap(count)));
    const keysOf = (i: number) => uniqueKeys(count, i * count);
    await Promise.all(tables.map((table, i) => table.insert(keysOf(i), counting(count, i))));
    const results = await Promise.all(
      tables.flatMap((table, i) => [table.find(keysOf(i)), table.find(keysOf((i + 1) % 4))]),
    );
    results.forEach(({ values, found }, n) => {
      const isHit = n % 2 === 0;
      expectEvery(found, isHit ? 1 : 0);
      expectSame(values, isHit ? counting(count, n / 2) : new Uint32Array(count));
    });
    const erased = await Promise.all(tables.map((table, i) => table.erase(keysOf(i).subarray(i))));
    expect(erased).toEqual([0, 1, 2, 3].map((i) => ({ erased: count - i })));
    expect(tables.map((table) => table.size)).toEqual([0, 1, 2, 3]);
    for (const table of tables) table.destroy();
  });

  it("mix with uploads, reads and new tables", async () => {
    using map = await newMap(1000);
    using old = await device().upload(uniqueKeys(1000));
    const [counts, copy, read, set] = await Promise.all([
      map.insert(old, old),
      device().upload(absentKeys(1000)),
      old.read(),
      StaticSet.create(device(), { key: "u32", capacity: 10 }),
      map.find(old),
      device().allocate("f32", 100),
    ]);
    expect(counts).toEqual({ inserted: 1000, existing: 0 });
    expectSame(read, uniqueKeys(1000));
    expectSame(await copy.read(), absentKeys(1000));
    expectNoneSet(await set.contains(copy), 1000);
    set.destroy();
  });

  it("a full one does not disturb the others", async () => {
    using full = await newMap(10, 1);
    using free = await newMap(100);
    const [error, counts] = await Promise.all([
      rejection(full.insert(uniqueKeys(20), counting(20)), CapacityError),
      free.insert(uniqueKeys(20), counting(20)),
      rejection(free.insert(uniqueKeys(20), counting(19)), ValidationError),
    ]);
    expect(error.rejected).toBe(10);
    expect(counts).toEqual({ inserted: 20, existing: 0 });
  });
});
