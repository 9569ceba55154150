import { describe, expect, it } from "vitest";
import { StaticMap, StaticSet, ValidationError } from "../../src/index.js";
import { expectAllSet, rejection } from "./helpers/checks.js";
import { useDevice } from "./helpers/device.js";
import { mapCalls, setCalls } from "./helpers/every-call.js";
import { counting, uniqueKeys } from "./helpers/keys.js";

const device = useDevice();
const newMap = (capacity = 100) => StaticMap.create(device(), { key: "u32", value: "u32", capacity });
const newSet = (capacity = 100) => StaticSet.create(device(), { key: "u32", capacity });

describe("a container that is destroyed", () => {
  for (const [name, call] of Object.entries(mapCalls)) {
    it(`rejects ${name} on a map`, async () => {
      const map = await newMap();
      await map.insert(uniqueKeys(10), counting(10));
      map.destroy();
      const error = await rejection(call(map, uniqueKeys(10)), ValidationError);
      expect(error.message).toContain("destroyed");
    });
  }

  for (const [name, call] of Object.entries(setCalls)) {
    it(`rejects ${name} on a set`, async () => {
      const set = await newSet();
      set.destroy();
      const error = await rejection(call(set, uniqueKeys(10)), ValidationError);
      expect(error.message).toContain("destroyed");
    });
  }

  it("can be destroyed again", async () => {
    const map = await newMap();
    map.destroy();
    map.destroy();
    map[Symbol.dispose]();
    await map[Symbol.asyncDispose]();
    await map[Symbol.asyncDispose]();
  });

  it("ends after the calls that were made before", async () => {
    const map = await newMap(1000);
    const calls = [
      map.insert(uniqueKeys(1000), counting(1000)),
      map.contains(uniqueKeys(1000)),
      map.rehash(2000),
    ];
    const last = map.erase(uniqueKeys(400));
    map.destroy();
    await rejection(map.clear(), ValidationError);
    const [counts, flags] = await Promise.all(calls);
    expect(counts).toEqual({ inserted: 1000, existing: 0 });
    expectAllSet(flags as Uint8Array, 1000);
    expect(await last).toEqual({ erased: 400 });
  });

  it("leaves the other containers and the results on the device alone", async () => {
    const map = await newMap();
    using set = await newSet();
    await map.insert(uniqueKeys(50), counting(50));
    await set.insert(uniqueKeys(50));
    using flags = await map.contains(uniqueKeys(50), { output: "device" });
    await map[Symbol.asyncDispose]();
    expectAllSet(await flags.read(), 50);
    expectAllSet(await set.contains(uniqueKeys(50)), 50);
  });

  it("is destroyed at the end of `using` and `await using`", async () => {
    const kept = [];
    {
      using map = await newMap();
      await using set = await newSet();
      kept.push(map, set);
      await set.insert(uniqueKeys(10));
    }
    for (const container of kept) await rejection(container.clear(), ValidationError);
  });

  it("gives its memory back: hundreds of tables one after the other", async () => {
    for (let i = 0; i < 300; i++) {
      await using set = await newSet(100_000);
      if (i % 100 === 0) expect(await set.insert(uniqueKeys(10))).toEqual({ inserted: 10, existing: 0 });
    }
  });
});
