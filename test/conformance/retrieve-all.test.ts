import { describe, expect, it } from "vitest";
import { StaticMap, StaticSet } from "../../src/index.js";
import { expectSame, expectUnique } from "./helpers/checks.js";
import { scaled, useDevice } from "./helpers/device.js";
import { counting, edgePatterns, unhash, uniqueKeys } from "./helpers/keys.js";

const device = useDevice();

describe("retrieveAll", () => {
  it("is empty for an empty table", async () => {
    using map = await StaticMap.create(device(), { key: "i32", value: "f32", capacity: 100 });
    expect(await map.retrieveAll()).toEqual({ keys: new Int32Array(), values: new Float32Array() });
    using set = await StaticSet.create(device(), { key: "f32", capacity: 100 });
    expect(await set.retrieveAll()).toEqual({ keys: new Float32Array() });
  });

  for (const maxLoadFactor of [0.1, 0.5, 1]) {
    it(`sorted, it is the input (load factor ${maxLoadFactor})`, async () => {
      const keys = uniqueKeys(409);
      using map = await StaticMap.create(device(), {
        key: "u32",
        value: "u32",
        capacity: 409,
        maxLoadFactor,
      });
      await map.insert(keys, keys);
      const all = await map.retrieveAll();
      expectSame(all.keys, all.values);
      expectSame(all.keys.slice().sort(), keys.slice().sort());
      using set = await StaticSet.create(device(), { key: "u32", capacity: 409, maxLoadFactor });
      await set.insert(keys);
      expectSame((await set.retrieveAll()).keys.slice().sort(), keys.slice().sort());
    });
  }

  it("gives each key the value it has, in both arrays at the same place", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "i32", capacity: 1000 });
    await map.insert(
      counting(1000),
      Int32Array.from(counting(1000), (i) => -i),
    );
    const { keys, values } = await map.retrieveAll();
    expect(keys.length).toBe(1000);
    expectUnique(keys);
    expectSame(
      values,
      Array.from(keys, (key) => (key === 0 ? 0 : -key)),
    );
  });

  it("leaves out erased entries", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 1000 });
    const keys = uniqueKeys(1000);
    await set.insert(keys);
    await set.erase(keys.subarray(0, 999));
    expect((await set.retrieveAll()).keys).toEqual(keys.slice(999));
    await set.erase(keys);
    expect((await set.retrieveAll()).keys).toEqual(new Uint32Array());
  });

  it("holds keys that equal sentinels", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 100 });
    await set.insert(edgePatterns);
    expectSame((await set.retrieveAll()).keys.sort(), edgePatterns.slice().sort());
  });

  it("changes nothing, and gives arrays of its own each time", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 10 });
    await set.insert(counting(10));
    const first = await set.retrieveAll();
    first.keys.fill(77);
    expectSame((await set.retrieveAll()).keys.sort(), counting(10));
  });

  it("dumps a large table", async () => {
    const count = scaled(2_000_000, 500_000);
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: count });
    await map.insert(uniqueKeys(count), counting(count));
    const { keys, values } = await map.retrieveAll();
    expect([keys.length, values.length]).toEqual([count, count]);
    const seen = new Uint8Array(count);
    keys.forEach((key, i) => {
      const id = unhash.murmur3(key);
      if (values[i] !== id || seen[id]++) expect.unreachable(`key ${id} with value ${values[i]}`);
    });
  });
});
