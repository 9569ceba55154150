import { describe, expect, it } from "vitest";
import { StaticMap, StaticSet } from "../../src/index.js";
import { expectAllSet, expectEvery, expectNoneSet, expectSame } from "./helpers/checks.js";
import { scaled, useDevice } from "./helpers/device.js";
import { absentKeys, counting, uniqueKeys } from "./helpers/keys.js";

const device = useDevice();
const newMap = (capacity: number) => StaticMap.create(device(), { key: "u32", value: "u32", capacity });

describe("StaticMap.find", () => {
  it("finds nothing in an empty map", async () => {
    using map = await newMap(400);
    const { values, found } = await map.find(uniqueKeys(400));
    expectNoneSet(found, 400);
    expectNoneSet(values, 400);
  });

  it("answers in input order, for hits and misses mixed, and for repeated keys", async () => {
    using map = await newMap(1000);
    const keys = uniqueKeys(1000);
    await map.insert(keys, counting(1000, 1));
    const absent = absentKeys(1000);
    const probes = counting(3000).map((i) => (i % 3 === 1 ? absent[i % 1000] : keys[(i * 17) % 1000]));
    const { values, found } = await map.find(probes);
    const isHit = (i: number) => i % 3 !== 1;
    expectSame(
      found,
      Array.from(probes, (_, i) => (isHit(i) ? 1 : 0)),
    );
    expectSame(
      values,
      Array.from(probes, (_, i) => (isHit(i) ? ((i * 17) % 1000) + 1 : 0)),
    );
  });

  it("tells a stored 0 from a miss", async () => {
    using map = await newMap(2);
    await map.insert(Uint32Array.of(5), Uint32Array.of(0));
    expect(await map.find(Uint32Array.of(5, 6))).toEqual({
      values: Uint32Array.of(0, 0),
      found: Uint8Array.of(1, 0),
    });
  });

  it("writes `missing` for misses and for nothing else", async () => {
    using map = await newMap(100);
    const keys = uniqueKeys(100);
    await map.insert(keys, new Uint32Array(100).fill(8));
    for (const missing of [1, 0xffffffff, 0xfffffffe, 0x80000000]) {
      expectEvery((await map.find(absentKeys(100), { missing })).values, missing);
      expectEvery((await map.find(keys, { missing })).values, 8);
    }
  });

  it("writes `missing` in the values' type", async () => {
    const options = { key: "u32", capacity: 4 } as const;
    using signed = await StaticMap.create(device(), { ...options, value: "i32" });
    expect((await signed.find(Uint32Array.of(1), { missing: -7 })).values).toEqual(Int32Array.of(-7));
    using float = await StaticMap.create(device(), { ...options, value: "f32" });
    for (const missing of [Number.NaN, 0.5, -0, Number.NEGATIVE_INFINITY]) {
      const { values, found } = await float.find(Uint32Array.of(1, 2), { missing });
      expectEvery(values, missing);
      expectNoneSet(found, 2);
    }
  });

  it("changes nothing", async () => {
    using map = await newMap(10);
    await map.insert(counting(10), counting(10));
    const before = await map.stats();
    await map.find(counting(100));
    expect(await map.stats()).toEqual(before);
  });

  it("works on a long batch", async () => {
    const count = scaled(500_000, 200_000);
    using map = await newMap(count);
    const keys = uniqueKeys(count);
    await map.insert(keys, counting(count));
    const { values, found } = await map.find(keys);
    expectAllSet(found, count);
    expectSame(values, counting(count));
    const misses = await map.find(absentKeys(count), { missing: 3 });
    expectNoneSet(misses.found, count);
    expectEvery(misses.values, 3);
  });
});

describe("StaticSet.find", () => {
  it("answers the stored key, and `missing` for misses", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 400 });
    const keys = uniqueKeys(400);
    expectNoneSet((await set.find(keys)).found, 400);
    await set.insert(keys);
    const hits = await set.find(keys, { missing: 1 });
    expectAllSet(hits.found, 400);
    expectSame(hits.keys, keys);
    const misses = await set.find(absentKeys(400), { missing: 0xffffffff });
    expectNoneSet(misses.found, 400);
    expectEvery(misses.keys, 0xffffffff);
  });
});
