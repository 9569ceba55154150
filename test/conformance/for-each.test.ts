import { describe, expect, it } from "vitest";
import { StaticMap, StaticSet } from "../../src/index.js";
import { expectSame } from "./helpers/checks.js";
import { scaled, useDevice } from "./helpers/device.js";
import { counting, unhash, uniqueKeys } from "./helpers/keys.js";

const device = useDevice();

describe("forEach", () => {
  it("visits nothing in an empty table", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 10 });
    using set = await StaticSet.create(device(), { key: "u32", capacity: 10 });
    let visits = 0;
    const count = () => void visits++;
    await map.forEach(count);
    await set.forEach(count);
    expect(visits).toBe(0);
  });

  it("calls visit(value, key) once for every pair, as Map.forEach does", async () => {
    using map = await StaticMap.create(device(), { key: "i32", value: "f32", capacity: 400 });
    const keys = Int32Array.from({ length: 400 }, (_, i) => i - 200);
    await map.insert(
      keys,
      Float32Array.from(keys, (key) => key / 4),
    );
    const visited = new Map<number, number>();
    await map.forEach((value, key) => {
      expect(visited.has(key)).toBe(false);
      visited.set(key, value);
    });
    expect(visited.size).toBe(400);
    for (const key of keys) expect(visited.get(key)).toBe(key / 4);
  });

  it("sees the values: as many 1 as there are even keys", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 400 });
    await map.insert(
      counting(400),
      counting(400).map((key) => (key % 2 === 0 ? 1 : 2)),
    );
    let ones = 0;
    await map.forEach((value, key) => {
      expect(value).toBe(key % 2 === 0 ? 1 : 2);
      if (value === 1) ones++;
    });
    expect(ones).toBe(200);
  });

  it("calls visit(key) once for every key of a set, and not for erased ones", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 400 });
    await set.insert(counting(400));
    await set.erase(counting(100));
    const visited: number[] = [];
    await set.forEach((key) => {
      visited.push(key);
    });
    expectSame(
      visited.sort((a, b) => a - b),
      counting(300, 100),
    );
  });

  it("goes on over many chunks", async () => {
    const count = scaled(2_500_000, 1_100_000);
    using map = await StaticMap.create(device(), {
      key: "u32",
      value: "u32",
      capacity: count,
      maxLoadFactor: 0.8,
    });
    await map.insert(uniqueKeys(count), counting(count));
    const seen = new Uint8Array(count);
    let wrong = 0;
    await map.forEach((value, key) => {
      if (unhash.murmur3(key) !== value || seen[value]++ > 0) wrong++;
    });
    expect(wrong).toBe(0);
    expect(seen.indexOf(0)).toBe(-1);
  });

  it("rejects with what visit throws, and the table goes on", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 10 });
    await set.insert(counting(10));
    const stop = new Error("enough");
    let visits = 0;
    const call = set.forEach(() => {
      if (++visits === 3) throw stop;
    });
    await expect(call).rejects.toBe(stop);
    expect(visits).toBe(3);
    expect(await set.insert(counting(11))).toEqual({ inserted: 1, existing: 10 });
  });

  it("may call the table it visits", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 20 });
    await set.insert(counting(10));
    const calls: Promise<unknown>[] = [];
    await set.forEach((key) => {
      calls.push(set.insert(Uint32Array.of(key + 10)));
    });
    await Promise.all(calls);
    expectSame((await set.retrieveAll()).keys.sort(), counting(20));
  });
});
