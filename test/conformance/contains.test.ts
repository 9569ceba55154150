import { describe, expect, it } from "vitest";
import { StaticMap, StaticSet } from "../../src/index.js";
import { expectAllSet, expectNoneSet, expectSame } from "./helpers/checks.js";
import { scaled, useDevice } from "./helpers/device.js";
import { absentKeys, counting, keysWithHome, uniqueKeys } from "./helpers/keys.js";

const device = useDevice();
const newMap = (capacity: number) => StaticMap.create(device(), { key: "u32", value: "u32", capacity });
const newSet = (capacity: number) => StaticSet.create(device(), { key: "u32", capacity });

describe("contains", () => {
  it("is all 0 on an empty table, whatever the keys", async () => {
    using map = await newMap(100);
    using set = await newSet(100);
    const keys = Uint32Array.of(...uniqueKeys(400), 0, 0xffffffff, 0xfffffffe);
    expectNoneSet(await map.contains(keys), 403);
    expectNoneSet(await set.contains(keys), 403);
  });

  it("is 1 for exactly the keys that are there, in input order, repeated ones too", async () => {
    using map = await newMap(500);
    using set = await newSet(500);
    const keys = uniqueKeys(1000);
    await map.insert(keys.subarray(0, 500), counting(500));
    await set.insert(keys.subarray(0, 500));
    const probes = counting(5000).map((i) => keys[(i * 37) % 1000]);
    const expected = Array.from(probes, (_, i) => ((i * 37) % 1000 < 500 ? 1 : 0));
    expectSame(await map.contains(probes), expected);
    expectSame(await set.contains(probes), expected);
  });

  it("tells present from absent keys of one collision chain, also over the end of the table", async () => {
    using set = await newSet(100);
    for (const home of [17, set.slots - 1]) {
      const chain = keysWithHome(home, set.slots, 80);
      await set.insert(chain.subarray(0, 40));
      expectAllSet(await set.contains(chain.subarray(0, 40)), 40);
      expectNoneSet(await set.contains(chain.subarray(40)), 40);
    }
  });

  it("works on a long batch", async () => {
    const count = scaled(500_000, 200_000);
    using set = await newSet(count);
    const keys = uniqueKeys(count);
    await set.insert(keys);
    expectAllSet(await set.contains(keys), count);
    expectNoneSet(await set.contains(absentKeys(count)), count);
  });

  it("answers exactly as many flags as there are keys", async () => {
    using set = await newSet(10);
    await set.insert(counting(10));
    for (let count = 0; count <= 10; count++) expectAllSet(await set.contains(counting(count)), count);
    expect((await set.contains(counting(3))).byteLength).toBe(3);
  });
});
