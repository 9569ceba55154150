import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BulkOptions, Device } from "../../src/index.js";
import { DynamicMap, StaticMap } from "../../src/index.js";
import { covering } from "../helpers/rounds.js";
import { expectPairs, expectSoundStats, pairsByBits } from "./helpers/checks.js";
import { onGpu, openFreshDevice, scaled, useDevice } from "./helpers/device.js";
import { counting, uniqueKeys } from "./helpers/keys.js";

const device = useDevice();
const newMap = (capacity: number) => StaticMap.create(device(), { key: "u32", value: "u32", capacity });
type TestMap = Awaited<ReturnType<typeof newMap>>;
type Call = (map: TestMap, keys: Uint32Array, values: Uint32Array, options: BulkOptions) => Promise<unknown>;

const changing: Record<string, Call> = {
  insert: (map, keys, values, options) => map.insert(keys, values, options),
  insertOrAssign: (map, keys, values, options) => map.insertOrAssign(keys, values, options),
  insertOrApply: (map, keys, values, options) => map.insertOrApply(keys, values, "add", options),
  insertAndFind: (map, keys, values, options) => map.insertAndFind(keys, values, options),
  erase: (map, keys, _values, options) => map.erase(keys, options),
};
const looking: Record<string, Call> = {
  find: (map, keys, _values, options) => map.find(keys, options),
  contains: (map, keys, _values, options) => map.contains(keys, options),
};
const all = { ...changing, ...looking };
/** Calls that go through their elements several times. */
const severalPasses: Record<string, Call> = {
  "insertOrAssign of the first of equal keys": (map, keys, values, options) =>
    map.insertOrAssign(keys, values, { ...options, duplicates: "first" }),
  "insertAndFind of the last of equal keys": (map, keys, values, options) =>
    map.insertAndFind(keys, values, { ...options, duplicates: "last" }),
};

/** Long enough that a fresh device, which does not know yet how fast it is, takes it in several chunks. */
const LONG = onGpu ? scaled(10_000_000, 2 ** 19 + 2 ** 14) : 1_000_000;
const SHORTER = LONG / 4;

describe("a signal", () => {
  for (const [name, call] of Object.entries(all)) {
    it(`that is aborted already makes ${name} reject with its reason and change nothing`, async () => {
      using map = await newMap(200);
      await map.insert(uniqueKeys(100), counting(100));
      const reason = new Error("not wanted any more");
      const outcome = call(map, uniqueKeys(200), counting(200, 500), { signal: AbortSignal.abort(reason) });
      await expect(outcome).rejects.toBe(reason);
      await expectPairs(map, pairsByBits("u32", uniqueKeys(100), counting(100)));
    });
  }

  it("that is aborted already makes retrieveAll reject", async () => {
    using map = await newMap(10);
    await expect(map.retrieveAll({ signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: "AbortError",
    });
  });

  it("that is aborted while the call waits its turn makes it reject and change nothing", async () => {
    using map = await newMap(100);
    const stop = new AbortController();
    const first = map.insert(uniqueKeys(50), counting(50));
    const second = map.insert(uniqueKeys(100), counting(100), { signal: stop.signal });
    stop.abort();
    await expect(second).rejects.toBe(stop.signal.reason);
    expect(await first).toEqual({ inserted: 50, existing: 0 });
    expect(map.size).toBe(50);
  });

  it("that is never aborted changes nothing, and one aborted after the call does not either", async () => {
    using map = await newMap(100);
    const stop = new AbortController();
    await map.insert(uniqueKeys(100), counting(100), { signal: stop.signal });
    stop.abort();
    await expectPairs(map, pairsByBits("u32", uniqueKeys(100), counting(100)));
  });

  // which learns the speed of each operation by itself
  let fresh: Device;
  beforeAll(async () => {
    fresh = await openFreshDevice();
  });
  afterAll(() => fresh?.destroy());

  for (const [name, call] of covering(
    Object.entries(changing),
    ([name]) => !onGpu || !/Assign|AndFind/.test(name),
  )) {
    it(`that is aborted in the middle of ${name} leaves a sound table with exact size`, async () => {
      using map = await StaticMap.create(fresh, { key: "u32", value: "u32", capacity: LONG });
      const [keys, values] = [uniqueKeys(LONG), counting(LONG)];
      if (name === "erase") await map.insert(keys, values);
      const stop = new AbortController();
      const reason = new Error("enough");
      const steps: number[] = [];
      const onProgress = (done: number) => {
        steps.push(done);
        stop.abort(reason);
      };
      const outcome = call(map, keys, values, { signal: stop.signal, onProgress });
      await expect(outcome).rejects.toBe(reason);
      expect(steps.length).toBe(1);
      expect(steps[0]).toBeLessThan(LONG);
      const flags = await map.contains(keys);
      const present = flags.reduce((sum, flag) => sum + flag, 0);
      expect(present).toBe(name === "erase" ? LONG - steps[0] : steps[0]);
      expect(map.size).toBe(present);
      await expectSoundStats(map);
      const rest = await map.insert(keys, values);
      expect(rest).toEqual({ inserted: LONG - present, existing: present });
      expect(map.size).toBe(LONG);
    });
  }
});

describe("onProgress", () => {
  for (const [name, call] of Object.entries({ ...all, ...severalPasses })) {
    it(`of ${name} counts up to the number of elements, and ends there`, async () => {
      using map = await newMap(SHORTER);
      const steps: number[] = [];
      await call(map, uniqueKeys(SHORTER), counting(SHORTER), {
        onProgress(done, total) {
          expect(total).toBe(SHORTER);
          expect(done).toBeGreaterThan(steps.at(-1) ?? 0);
          steps.push(done);
        },
      });
      expect(steps.at(-1)).toBe(SHORTER);
    });
  }

  it("of calls with strings counts up to the number of elements, and ends there once", async () => {
    using map = await DynamicMap.create(device(), { key: "utf8", value: "u32" });
    const strings = Array.from(uniqueKeys(20_000), String);
    const values = counting(strings.length);
    const told = async (call: (options: BulkOptions) => Promise<unknown>) => {
      const steps: number[] = [];
      await call({ onProgress: (done) => steps.push(done) });
      expect(steps).toEqual([...new Set(steps)].sort((a, b) => a - b));
      expect(steps.at(-1)).toBe(strings.length);
    };
    await told((options) => map.insert(strings, values, options));
    await told((options) => map.insertOrAssign(strings, values, { ...options, duplicates: "first" }));
    await told((options) => map.find(strings, options));
    await told((options) => map.erase(strings, options));
  });

  it("that throws leaves a table that is sound", async () => {
    using map = await newMap(1000);
    const keys = uniqueKeys(1000);
    const onProgress = () => {
      throw new Error("no progress wanted");
    };
    await map.insert(keys, counting(1000), { onProgress }).catch(() => undefined);
    const flags = await map.contains(keys);
    expect(map.size).toBe(flags.reduce((sum, flag) => sum + flag, 0));
    await map.insert(keys, counting(1000));
    await expectPairs(map, pairsByBits("u32", keys, counting(1000)));
  });
});
